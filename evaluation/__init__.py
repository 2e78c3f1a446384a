"""What answers are worth: people's forms now, models' scores to come."""

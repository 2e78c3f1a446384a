"""What things are: catalogue, records, digests, outcomes, invariants. The ground floor."""

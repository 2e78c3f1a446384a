"""What answers: an OpenAI-compatible endpoint, and models of this machine."""

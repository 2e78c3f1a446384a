"""One file an output format."""

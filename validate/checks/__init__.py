"""One file a kind of check; each yields findings."""

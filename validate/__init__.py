"""Is this data set right: checks, findings, outputs."""

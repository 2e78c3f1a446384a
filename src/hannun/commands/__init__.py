"""The verbs of both commands, one file a verb."""

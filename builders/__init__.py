"""What `datasets` sees: features, builder classes, the folder that load_dataset reads."""

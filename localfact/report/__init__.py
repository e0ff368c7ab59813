"""What a person or another tool reads of a finished run."""

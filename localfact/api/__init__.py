"""What one can ask for, a file a thing: `evaluate`, `check`, `extract`, `relate` and the rest. The command line calls these."""

"""The command line, one file for each group of commands: reads options, calls `api/`, and prints the result."""

"""The command line, a file a group of commands: it reads options, calls `api/`, and shows what comes back."""

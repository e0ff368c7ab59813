"""Where evaluators already work: one file a tool, imported by nobody but that tool and the command line."""

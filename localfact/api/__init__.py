"""The Python functions behind the commands, one file each: `evaluate`, `check`, `extract`, `relate` and so on."""

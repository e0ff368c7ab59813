"""The open web: searching, fetching, archiving, extracting text."""

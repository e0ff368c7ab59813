"""The open web and what came from it: searching, fetching, archiving, extracting."""

"""What any program needs and nothing about factuality: files, SQLite, tasks, usage, being offline, versions."""

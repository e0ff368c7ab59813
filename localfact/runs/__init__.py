"""Many responses at once: the run folder, files of rows, progress; an error in one row does not stop the others."""

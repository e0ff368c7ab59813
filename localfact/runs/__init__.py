"""Many responses at once: the run folder, files of rows, progress, and what one bad row does to the rest (nothing)."""

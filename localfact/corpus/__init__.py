"""A corpus: the folder, what is recorded in it, and what fills it."""

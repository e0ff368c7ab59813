"""Corpora: the folder format, what is recorded in it, indexing and importing."""

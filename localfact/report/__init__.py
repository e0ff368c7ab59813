"""Presents results to people and other tools: summaries, tables, plots, progress."""

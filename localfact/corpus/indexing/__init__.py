"""Passages found by words and by vectors, in immutable segments."""

"""Indexes over passages, by words and by vectors, in immutable segments."""

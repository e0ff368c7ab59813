"""Reads collections of pages that other tools made."""

"""Claim extraction: one file for each way of doing it."""

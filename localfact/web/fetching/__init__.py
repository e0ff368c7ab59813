"""Fetching pages: politely, within limits, from allowed addresses only."""

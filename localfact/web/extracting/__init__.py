"""Bytes of a page to the text that its reader sees, in processes with limits."""

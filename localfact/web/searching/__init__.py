"""Asking search engines: providers behind one protocol, one after the other where one fails."""

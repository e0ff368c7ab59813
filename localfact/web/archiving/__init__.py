"""The WARC archive of what was fetched, and WARC of other tools."""

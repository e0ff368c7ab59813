"""The pages that people open in a browser: one file each, which asks nothing of any network."""

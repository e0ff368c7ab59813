"""Citations: which sources a response cites for each sentence, and whether they say it."""

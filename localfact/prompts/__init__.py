"""What the language model is told: one template a task in our own words, with examples beside it."""

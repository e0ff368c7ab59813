"""Reading what users bring: responses, claims, prompts, FACTOR questions."""

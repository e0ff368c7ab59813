"""Reads users' files: responses, claims, prompts, FACTOR questions."""

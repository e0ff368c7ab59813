"""The assessors that the papers compare with: one prompt a claim and its passages, and no graph."""

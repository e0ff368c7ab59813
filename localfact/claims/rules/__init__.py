"""Claims without a language model: sentences, their clauses, and what they speak of, found by rules for English."""

"""Claims without a language model: rules for English find sentences, their clauses and what pronouns refer to."""

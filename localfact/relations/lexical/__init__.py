"""Relations by word overlap: a logistic regression over words, numbers, names and negation."""

"""Values bound to predicates: numbers, dates, ranks, names, and what each is the value of."""

"""Gold data made by people: the annotators' web application, what they did step by step, and what comes of it."""

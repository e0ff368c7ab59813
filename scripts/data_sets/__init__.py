"""Public sets of labelled pairs: how they are read, divided by topic, and licensed."""

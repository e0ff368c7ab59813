"""The parts of teach_relations.py: a small relation model that learns from a large one."""

"""The papers' tables: their figures as data, the runs that reproduce them, and the input files that such runs read."""

"""Scores of assessments: every score prints its own policy, every mean says what it left out.

`standard_scores` chooses what a run prints and `score` computes it; alignment.py compares a run with its annotation,
comparison.py with another run.
"""

from localfact.scoring.aggregate import Score, ScoreResult, score
from localfact.scoring.recall import KPolicy, KPrime
from localfact.scoring.scores import standard_scores

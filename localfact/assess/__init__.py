"""Deciding verdicts: FastFact's gate and verifier, FactReasoner's graph."""

"""Deciding what is true: FastFact's gate and verifier, FactReasoner's graph."""

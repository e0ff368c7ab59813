"""Prompts of the language model: one template for each task, with its examples."""

from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import (
    Judge,
    atomization_chat,
    decomposition_chat,
    extraction_chat,
    failure_chat,
    failures_chat,
    generation_chat,
    judging_chat,
    missing_chat,
    next_query_chat,
    query_chat,
    relation_chat,
    relevance_chat,
    revision_chat,
    verification_chat,
)
from localfact.prompts.loading import Task, examples_of, prompt_hashes

__all__ = [
    "Boundary",
    "Judge",
    "Task",
    "atomization_chat",
    "decomposition_chat",
    "examples_of",
    "extraction_chat",
    "failure_chat",
    "failures_chat",
    "generation_chat",
    "judging_chat",
    "missing_chat",
    "next_query_chat",
    "prompt_hashes",
    "query_chat",
    "relation_chat",
    "relevance_chat",
    "revision_chat",
    "verification_chat",
]

"""Prompts of the language model: one template for each task, with its examples."""

from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import (
    atomization_chat,
    extraction_chat,
    generation_chat,
    query_chat,
    relation_chat,
    revision_chat,
    verification_chat,
)
from localfact.prompts.loading import Task, prompt_hashes

__all__ = [
    "Boundary",
    "Task",
    "atomization_chat",
    "extraction_chat",
    "generation_chat",
    "prompt_hashes",
    "query_chat",
    "relation_chat",
    "revision_chat",
    "verification_chat",
]

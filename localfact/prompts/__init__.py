"""What the language model is told: one template a task in our own words, with examples beside it."""

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

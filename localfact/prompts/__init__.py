"""Prompts of the language model: one template for each task, with its examples."""

from localfact.prompts.boundary import Boundary, OwnFiles, boundary_of
from localfact.prompts.chats import (
    Judge,
    atomization_chat,
    correction_chat,
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
from localfact.prompts.fields import Task
from localfact.prompts.loading import examples_of, prompt_hashes
from localfact.prompts.own import read_own_prompts

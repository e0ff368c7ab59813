"""What the language model is told: one template a task in our own words, with examples beside it."""

from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import extraction_chat, generation_chat, relation_chat, verification_chat
from localfact.prompts.loading import prompt_hashes

__all__ = ["Boundary", "extraction_chat", "generation_chat", "prompt_hashes", "relation_chat", "verification_chat"]

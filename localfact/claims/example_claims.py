"""Drops claims about somebody of a prompt's own examples: a small model takes a name from there for a pronoun of the text."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from localfact.llm.engine import Chat
from localfact.records import Claim, Response
from localfact.text import words


def drop_example_claims(claims: Sequence[Claim], chat: Chat, response: Response, tally: Counter[str]) -> tuple[Claim, ...]:
    """Returns the claims without those that begin with two words of a name which only the prompt's own examples have.

    Such a word is in the chat, there always with a capital letter, and not in the response, its prompt or its topic. One is not
    enough: a chat may write "His" with a capital letter alone. Adds the number dropped to `tally` as "claims_of_examples".
    """
    own = {word.casefold() for word in words(f"{response.text} {response.prompt or ''} {response.topic or ''}")}
    sent = set(chain.from_iterable(words(message.content) for message in chat))
    names = {word for word in sent if word[:1].isupper() and word.lower() not in sent and word.casefold() not in own}
    kept = tuple(claim for claim in claims if len(begin := words(claim.text)[:2]) < 2 or not names.issuperset(begin))
    tally["claims_of_examples"] += len(claims) - len(kept)
    return kept

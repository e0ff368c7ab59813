"""A corpus in two lines: what was done to it, and what it holds. Hashes are for programs."""

from collections.abc import Mapping, Sequence
from typing import Any

#: The most sources that gave no page and are named.
NAMED = 3


def tell_corpus(folder: str, done: Mapping[str, Any], holds: Mapping[str, Any], passed_over: Sequence[str] = ()) -> str:
    """What was done to a corpus and what it holds now, in sentences.

    Args:
        done: what was done -> how often: {"added": 2}; what is no number is left out. Empty for a corpus that was made.
        holds: a description of the corpus, as plain values.
        passed_over: of each source that gave no page, where it is and why.
    """
    counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in done.items() if type(count) is int]
    kinds = {name: kind["passages"] for name, kind in holds["segments"].items()}
    each = f" ({', '.join(f'{count:,} {name}' for name, count in kinds.items())})" if len(kinds) > 1 else ""
    held = f"{holds['pages']:,} pages {'in all' if counts else 'read'}, {sum(kinds.values()):,} passages{each}"
    parts = [*counts, held, *([tell_passed_over(passed_over)] if passed_over else [])]
    searched = f"by words and by the vectors of {holds['embedder']}" if holds["embedder"] else "by words alone (BM25)"
    return f"{folder}: {', '.join(parts)}.\nIt is searched {searched}."


def tell_passed_over(passed_over: Sequence[str]) -> str:
    """How many sources gave no page, and the first of them."""
    named = [" ".join(one.split()).rstrip(".") for one in passed_over[:NAMED]]
    more = [f"{len(passed_over) - NAMED:,} more"] if len(passed_over) > NAMED else []
    return f"{len(passed_over):,} passed over: {'; '.join([*named, *more])}"

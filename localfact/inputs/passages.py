"""Reads the passages that a response brings along, ours or other schemas', as its evidence (`responses.py`)."""

import re
from collections.abc import Iterable, Mapping, Sequence

from localfact.inputs.claims import optional_text
from localfact.inputs.json_rows import Row, RowError, first
from localfact.records import Claim, Evidence, Hit, Passage, passage_id
from localfact.runtime.addresses import address_without_secrets, host_of
from localfact.text import normalise, readable

OWN_PASSAGES = "passages"
PASSAGE_KEYS = (OWN_PASSAGES, "contexts")
#: Names of lists in rows of ragas, RAGChecker and DeepEval, which may have several: what was retrieved comes first.
CONTEXT_KEYS = ("retrieved_contexts", "retrieved_context", "retrieval_context", "reference_contexts", "context", "documents")
#: The text of a passage: ours, and LangChain's.
TEXT_KEYS = ("text", "page_content", "content")
#: Stands between the parts of a page that a search shows.
ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…)\s*")


def evidence_of(row: Row, claims: Sequence[Claim], links: Mapping[str, Sequence[str]]) -> Evidence | None:
    """The passages of a row, linked to its claims in the order given. None where the row gives none."""
    given = passages_given(row)
    if given is None:
        return None
    by_given_id: dict[str, Passage | None] = {}
    for position, item in enumerate(given, start=1):
        item = {"text": item} if isinstance(item, str) or item is None else item
        if not isinstance(item, dict):
            raise RowError(f"Passage {position} is neither a text nor a JSON object.")
        name = readable(str(item.get("id", position)))
        if name in by_given_id:
            raise RowError(f"Two passages have the id '{name[:40]}'.")
        by_given_id[name] = passage_of(item, joined=OWN_PASSAGES in row)
    notes = []
    empty = sum(passage is None for passage in by_given_id.values())
    if empty:
        notes.append(f"{empty} of the given passages have neither text nor snippet and were passed over.")
    unknown = sorted({link for linked in links.values() for link in linked if link not in by_given_id})
    if unknown:
        notes.append(f"{len(unknown)} passage ids that claims name are not among the passages ({', '.join(unknown[:3])}).")
    hits = {claim.id: hits_of([by_given_id.get(link) for link in links.get(claim.id, ())]) for claim in claims}
    return Evidence(passages=unique_passages(by_given_id.values()), hits=hits, notes=tuple(notes))


def passages_given(row: Row) -> list[object] | None:
    """The passages of a row as it has them, those of several lists one after the other; None where it has no list of them."""
    own = first(row, PASSAGE_KEYS)
    lists = [own] if own is not None else [row[key] for key in CONTEXT_KEYS if row.get(key)]
    found: list[object] = []
    for one in lists:
        if isinstance(one, str) and one.strip() and not (one.startswith("[") and one.endswith("]")):
            one = [one]
        if not isinstance(one, list):
            raise RowError("'passages' must be a list.")
        for passage in one:  # of several searches, each has a list of its own
            found += passage if isinstance(passage, list) else [passage]
    return found if lists else None


def unique_passages(passages: Iterable[Passage | None]) -> tuple[Passage, ...]:
    """Each text once, as it was given first, with the links of all its repetitions."""
    unique: dict[str, Passage] = {}
    for passage in passages:
        if passage is not None:
            known = unique.get(passage.id, passage)
            links = tuple(dict.fromkeys((*known.links, *passage.links)))
            unique[passage.id] = known.model_copy(update={"links": links, "host": known.host or passage.host})
    return tuple(unique.values())


def hits_of(passages: Sequence[Passage | None]) -> tuple[Hit, ...]:
    """Hits in the order given, scored 1 / rank, as no retriever scored them."""
    found = [passage for passage in passages if passage is not None]
    return tuple(Hit(passage_id=passage.id, rank=rank, score=1.0 / rank) for rank, passage in enumerate(found, start=1))


def passage_of(item: Row, *, joined: bool) -> Passage | None:
    """One given passage; the snippet is used for an empty text; None where both are empty.

    Args:
        joined: whether what the snippet shows and the text lacks is put before the text. Of other schemas it is not, so that
            files that were published give what they gave.
    """
    text, snippet = optional_text(first(item, TEXT_KEYS)), optional_text(item.get("snippet"))
    if text is None or snippet is None:
        text = text or snippet
    elif joined:
        lacking = [part.strip() for part in ELLIPSIS.split(snippet) if normalise(part) not in normalise(text)]
        text = "\n\n".join((*lacking, text))
    if text is None:
        return None
    text = text.strip()
    links = links_of(item)
    return Passage(
        id=passage_id(text),
        text=text,
        title=optional_text(item.get("title")) or "",
        links=links,
        host=next(filter(None, map(host_of, links)), None),
        date=optional_text(item.get("date")),
        provider="input",
    )


def links_of(item: Row) -> tuple[str, ...]:
    """The addresses of a passage, without secrets: our `links`, or other schemas' single `link` or `url`."""
    given = item.get("links")
    found = [optional_text(link) for link in (given if isinstance(given, list) else [item.get("link") or item.get("url")])]
    return tuple(dict.fromkeys(address_without_secrets(link) for link in found if link))

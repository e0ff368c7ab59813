"""Claims that people labelled: responses made of them, their topics halved, and assessed by relations that are known."""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from localfact.assembling import assessment_of
from localfact.assess.factreasoner import FactReasoner
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.records import Assessment, Evidence, Extraction, Pair, Response
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.tally import labelled_claims
from localfact.stages import Relations
from scripts.labelled_sets import digest
from scripts.measure_relations import Counted, ratio

#: The graph over a claim and its own passages, by relations that count hard, or soft.
OWN = FactReasoner(1, tables="balanced", rules="own")
SOFT = replace(OWN, factors="soft")


def parser_of(description: str | None, work: str, *, needs_data: bool = True) -> argparse.ArgumentParser:
    """A parser of DATA, --model and --work, the folder that keeps answers."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs=None if needs_data else "?", help="the folder of public data sets")
    parser.add_argument("--model", help="a language model besides")
    parser.add_argument("--work", type=Path, default=Path(work))
    return parser


def half_of(topic: str) -> int:
    """0 or 1, by a hash: on the topics of 0 anything may be chosen; those of 1 are measured on."""
    return int(digest(f"half {topic}"), 16) % 2


def labelled_response(
    claims: Sequence[tuple[str, bool]], passages: Sequence[Mapping[str, str]], *, own: bool, **named: str
) -> Response:
    """A response whose text is its claims, each with whether it is true.

    Args:
        passages: each with its text. own: whether all of them are every claim's own. named: its id (default: a hash of the
            text), prompt and topic.
    """
    text = " ".join(claim for claim, _ in claims)
    listed = [{"id": str(place), **one} for place, one in enumerate(passages)]
    ids: dict[str, Any] = {"passages": [one["id"] for one in listed]} if own else {}
    labelled = [{"text": claim, "label": "S" if gold else "NS", **ids} for claim, gold in claims]
    row = {"id": digest(text), **named, "response": text, "claims": labelled, "passages": listed}
    return response_of(row, 1, MAX_WORDS)


def pairs_of(row: Response) -> Sequence[Pair]:
    """A response's claims, each with its own passages."""
    return OWN.pairs(row.claims or (), row.evidence or Evidence())


def assess(
    rows: Sequence[Response],
    answers: Relations,
    reasoner: FactReasoner,
    among: Callable[[Response], Relations] = lambda row: {},
) -> list[Assessment]:
    """What a graph says of labelled claims; `among`: what claims of a response say of one another."""
    between = [among(row) for row in rows]

    async def assess_all() -> list[Assessment]:
        found = []
        for index, row in enumerate(rows):
            claims, evidence = row.claims or (), row.evidence or Evidence()
            known = {**between[index], **{pair: answers[pair] for pair in reasoner.pairs(claims, evidence)}}
            judgement = await reasoner.assess(row, claims, evidence, known)
            found.append(assessment_of(index, row, Extraction(claims=tuple(claims)), evidence, judgement))
        return found

    return asyncio.run(assess_all())


def brier(found: Sequence[Assessment]) -> Estimator:
    """The mean squared distance of posteriors from the labels, over claims."""
    distances = [
        [(verdict.posterior - gold) ** 2 for gold, verdict in labelled_claims(one) if verdict.posterior is not None]
        for one in found
    ]
    return ratio(Counted(np.array([sum(each) for each in distances]), np.array([len(each) for each in distances], dtype=float)))

"""Compares ways to ask a language model to revise claims, by sentences that people made understandable without their context.

    python -m scripts.measure_revision DATA --model qwen2.5-coder-1.5b [--prompts FOLDER ...] [--half 1] [--work FOLDER]

DATA is the folder of public data sets. Factcheck-GPT's annotators wrote each sentence of an answer again so that it can be read
alone, or left it as it was; the model gets the answer, its question and the sentence. An edit is a word that only the new or
only the old wording has: precision, recall and F1 are of the model's edits against people's, over all sentences, with 95 %
intervals over answers. The prompt that ships comes first, then each folder, as --prompts takes it; by default those of
scripts/prompt_variants that have a file of this task. Topics are cut in halves by a hash: on half 0, the default, a prompt may
be chosen, half 1 says whether it holds. Revisions are written to FOLDER for a person to read, and answers are kept there: the
same command goes on where it was interrupted, and asks nothing twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from localfact.claims.given import GivenClaims
from localfact.claims.reviser import Outcome, RevisedClaims
from localfact.claims.rules.extractor import RuleExtractor
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.methods.engine import open_engine
from localfact.methods.options import Options
from localfact.records import Extraction, Response
from localfact.runtime.tasks import complete, together
from localfact.text import normalised_words, word_count
from scripts.assessing import half_of, parser_of
from scripts.labelled_sets import digest, json_lines
from scripts.measure_extraction import write
from scripts.measure_prompts import variants
from scripts.tables import markdown_table, with_interval

#: The most words of a sentence, and answers of a half.
LONGEST, ANSWERS = 40, 30
#: Revisions that were not used, by why.
UNUSED = (Outcome.UNREADABLE, Outcome.UNFAITHFUL)
HEADS = (
    *("prompt", "edits: precision", "recall", "F1", "changed as people did", "left as people did"),
    *(kind.removeprefix("revisions_") for kind in UNUSED),
)


class Wordings(NamedTuple):
    """A sentence, as people wrote it again, and as the model did."""

    sentence: str
    people: str
    model: str


def main() -> None:
    parser = parser_of(__doc__, "runs/revision")
    parser.add_argument("--prompts", type=Path, action="append", help="a folder of templates; default: those that come along")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0, help="of the topics (0)")
    chosen = parser.parse_args()
    if chosen.model is None:
        parser.error("--model names the language model that is asked")
    chosen.work.mkdir(parents=True, exist_ok=True)
    drawn = list(draw(chosen.data, chosen.half))
    rows = []
    for folder in (None, *(chosen.prompts or variants("revision"))):
        name = folder.name if folder else "as-it-ships"
        options = Options(model=chosen.model, prompts=folder, transcript=chosen.work / "calls.sqlite")
        found = complete(revise(options, [response for response, _ in drawn]))
        told = [compared(people, one) for (_, people), one in zip(drawn, found, strict=True)]
        write(chosen.work / f"{name}.{chosen.half}.jsonl", [each._asdict() for answer in told for each in answer])
        rows.append([name, *figures(told), *(str(sum(one.counts[kind] for one in found)) for kind in UNUSED)])
    print(f"{sum(len(people) for _, people in drawn)} sentences of {len(drawn)} answers\n\n{markdown_table(HEADS, rows)}")


def draw(data: Path, half: int) -> Iterator[tuple[Response, list[str]]]:
    """Answers, each with its sentences as claims, and with these as people wrote them again, by a hash."""
    rows = json_lines(data / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz")
    kept = [row for row in rows if half_of(row["prompt"]) == half]
    for row in sorted(kept, key=lambda row: digest(f"revised {row['prompt']}"))[:ANSWERS]:
        told = [one for one in row["sentences"].values() if one["decontext"] and "\n" not in one["text"]]
        told = [one for one in told if word_count(one["text"]) <= LONGEST]
        claims = [{"text": one["text"]} for one in told]
        given = {"id": digest(row["response"]), "prompt": row["prompt"], "response": row["response"], "claims": claims}
        yield response_of(given, 1, MAX_WORDS), [one["decontext"] for one in told]


async def revise(options: Options, answers: Sequence[Response]) -> list[Extraction]:
    """The claims of all answers, revised by the model."""
    async with AsyncExitStack() as opened:
        reviser = RevisedClaims(GivenClaims(RuleExtractor()), open_engine(options, opened), merging="none")
        return list(await together(reviser.extract(one) for one in answers))


def compared(people: Sequence[str], revised: Extraction) -> list[Wordings]:
    """An answer's sentences, in order, as people and the model wrote them again."""
    return [
        Wordings(claim.original or claim.text, wording, claim.text)
        for wording, claim in zip(people, revised.claims, strict=True)
    ]


def edits(old: str, new: str) -> set[tuple[bool, str]]:
    """Words that only one wording has, each with whether it is the new one."""
    before, after = map(normalised_words, (old, new))
    return {(True, word) for word in after - before} | {(False, word) for word in before - after}


def figures(answers: Sequence[Sequence[Wordings]]) -> list[str]:
    """Precision, recall and F1 of the model's edits; how often it changes, and leaves, what people changed, and left."""
    counts = np.array([counted(answer) for answer in answers], dtype=float)

    def share(of: Callable[[np.ndarray], float]) -> str:
        return with_interval(lambda places: of(counts[places].sum(axis=0)), len(counts))

    both, ours, theirs = range(3)
    return [
        share(lambda sums: sums[both] / max(1, sums[ours])),
        share(lambda sums: sums[both] / sums[theirs]),
        share(lambda sums: 2 * sums[both] / (sums[ours] + sums[theirs])),
        *(f"{counts[:, first].sum():.0f} of {counts[:, first + 1].sum():.0f}" for first in (3, 5)),
    ]


def counted(answer: Sequence[Wordings]) -> tuple[int, ...]:
    """Edits of both, of the model, of people; changes and leavings of both, each with those of people."""
    told = [(edits(one.sentence, one.people), edits(one.sentence, one.model)) for one in answer]
    return (
        sum(len(people & model) for people, model in told),
        sum(len(model) for _, model in told),
        sum(len(people) for people, _ in told),
        sum(bool(people and model) for people, model in told),
        sum(bool(people) for people, _ in told),
        sum(not people and not model for people, model in told),
        sum(not people for people, _ in told),
    )


if __name__ == "__main__":
    main()

"""Sentences and the claims that people took from them, as the small language model learns them.

FActScore's biographies and Factcheck-GPT's answers are read from the folder of public data sets; sentences of other kinds
(recipes, laws, lists, talk, code), and such that state nothing, were written for this model and are in `written`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from localfact import text
from localfact.claims.rules.markdown import plain_text
from localfact.claims.rules.subject import Subject
from localfact.claims.small_lm.extractor import SENTENCES_BEFORE
from localfact.claims.small_lm.frame import Frame
from localfact.claims.small_lm.guard import refusal
from localfact.records import Span
from scripts.training.lexical_pairs import benchmark, json_lines
from scripts.training.relation_model.examples import digest, topic_key

WRITTEN = Path(__file__).parent / "written"
WRITERS = ("ChatGPT", "InstructGPT", "PerplexityAI")
#: The biography that results are shown on.
SHOWN = "Lanny Flaherty"
#: Percent of the topics that are never trained on.
TEST_PERCENT = 15


class Row(NamedTuple):
    """A sentence with its claims.

    Attributes:
        set: where it is from. frame: as the model reads it. claims: in the annotators' order, each once; pronouns are replaced
            by names where the rules are sure. as_written: the same claims as the annotators left them.
        topic: whom or what the text is about, by which rows are divided.
    """

    set: str
    frame: Frame
    claims: tuple[str, ...]
    as_written: tuple[str, ...]
    topic: str

    @property
    def is_test(self) -> bool:
        """Whether it is only for measuring."""
        return int(digest(f"claims {topic_key(self.topic)}"), 16) % 100 < TEST_PERCENT


def rows(data: Path) -> list[Row]:
    """All rows, in a fixed order, without the claims that are not from their sentence by the guard's rules."""
    return [checked(row) for reader in (biographies, answers, written) for row in reader(data)]


def checked(row: Row) -> Row:
    """The row without claims that its text has nothing of: annotators' slips, and facts from elsewhere."""
    kept = [place for place, claim in enumerate(row.claims) if not refusal(claim, row.frame.source)]
    return row._replace(
        claims=tuple(row.claims[place] for place in kept), as_written=tuple(row.as_written[place] for place in kept)
    )


def biographies(data: Path) -> Iterator[Row]:
    """FActScore's sentences with the facts of its annotators; not those that they found irrelevant, which have none."""
    for writer in WRITERS:
        for biography in json_lines(data / f"factscore_bios/{writer}.jsonl"):
            if biography["annotations"] and biography["topic"] != SHOWN:
                yield from biography_rows(biography)


def biography_rows(biography: dict[str, Any]) -> Iterator[Row]:
    """The rows of one biography."""
    topic = biography["topic"]
    subject = Subject(topic, biography["output"])
    before: list[str] = []
    for part in biography["annotations"]:
        sentence = plain(part["text"])
        if not sentence:
            continue
        subject.read(sentence)
        facts = [plain(fact["text"]) for fact in part["human-atomic-facts"] or ()]
        claims = {text.normalise(fact): (subject.resolve(fact), fact) for fact in facts if fact}
        if claims:
            resolved, left = zip(*claims.values(), strict=True)
            yield Row("biographies", framed(topic, before, sentence), resolved, left, topic)
        before.append(sentence)


def answers(data: Path) -> Iterator[Row]:
    """Factcheck-GPT's sentences with their claims; none where the annotators found nothing worth checking."""
    for row in benchmark(data):
        before: list[str] = []
        for part in row["sentences"]:
            sentence = plain(part["text"])
            if not sentence:
                continue
            claims = tuple({text.normalise(claim): plain(claim) for claim in part["claims"] or () if claim.strip()}.values())
            if claims or part["sentence_checkworthiness"] != "yes":
                yield Row("answers", framed("", before, sentence), claims, claims, row["prompt"])
            before.append(sentence)


def written(_data: Path) -> Iterator[Row]:
    """The rows that were written for this model."""
    for file in sorted(WRITTEN.glob("*.jsonl")):
        for row in json_lines(file):
            claims = tuple(row["claims"])
            yield Row("written", Frame(row["topic"], row["before"], row["sentence"]), claims, claims, row["sentence"])


def framed(topic: str, before: Sequence[str], sentence: str) -> Frame:
    """The frame of a sentence, as the extractor makes it."""
    return Frame(topic, " ".join(before[-SENTENCES_BEFORE:]), sentence)


def plain(marked: str) -> str:
    """One sentence without markup."""
    readable = text.readable(marked)
    return plain_text(readable, Span(start=0, end=len(readable))).text if readable.strip() else ""

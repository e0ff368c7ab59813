"""Made-up runs of any size, as the report of a run meets them."""

from collections.abc import Iterator

from localfact.records import Assessment, Claim, CountedPassage, Passage, Relation, Span, Verdict, passage_id
from localfact.vocabulary import RelationLabel, VerdictLabel


def large_assessments(responses: int, claims: int, passage_characters: int = 2_000) -> Iterator[Assessment]:
    """Responses of so many claims, each judged by two of the response's passages."""
    labels = (VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED, VerdictLabel.NOT_ENOUGH_EVIDENCE)
    for index in range(responses):
        sentences = [
            f"Statement {number} of response {index} is that the river {number * index} is long." for number in range(claims)
        ]
        text = " ".join(sentences)
        pages = tuple(
            passage((f"Page {number} of {index}. The river is long and flows through the plain. " * 99)[:passage_characters])
            for number in range(max(1, claims // 4))
        )
        counted = [
            tuple(
                CountedPassage(
                    passage_id=pages[(number + step) % len(pages)].id,
                    relation=RelationLabel.ENTAILMENT,
                    probability=0.8,
                    shift=0.1,
                    window=Span(start=0, end=500),
                    sentence=Span(start=16, end=70),
                )
                for step in range(2)
            )
            for number in range(claims)
        ]
        yield Assessment(
            index=index,
            response_id=f"response-{index}",
            prompt=f"Tell me about the rivers of {index}.",
            text=text,
            status="scored",
            claims=tuple(
                Claim(id=f"c{number}", text=sentence, spans=(span(text, sentence),))
                for number, sentence in enumerate(sentences)
            ),
            verdicts=tuple(
                Verdict(claim_id=f"c{number}", label=labels[(number + index) % 3], posterior=0.6, passages=counted[number])
                for number in range(claims)
            ),
            passages=pages,
            relations=tuple(
                Relation(source=one.passage_id, target=f"c{number}", label=RelationLabel.ENTAILMENT, probability=0.8)
                for number in range(claims)
                for one in counted[number]
            ),
        )


def passage(text: str) -> Passage:
    """A passage of one page."""
    return Passage(id=passage_id(text), text=text, links=("https://example.org/rivers",), host="example.org")


def span(text: str, part: str) -> Span:
    """Where a part stands in a text."""
    start = text.index(part)
    return Span(start=start, end=start + len(part))

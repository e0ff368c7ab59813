"""The road from a response to checked claims, with a writer that has its lines from a table and relations from another."""

from collections.abc import Callable, Mapping, Sequence

from localfact.claims.rules.extractor import RuleExtractor
from localfact.claims.small_lm.extractor import LEAST_ENTAILMENT, NOTHING, SmallLanguageModelExtractor
from localfact.records import Distribution, Extraction, Failure, Pair, Response

FIRST, SECOND = "Ada Morel was born in Lyon and studied in Paris.", "She won two prizes in 1990."


class WrittenLines:
    """Writes behind a frame what the table has for its sentence."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.prompts: list[str] = []

    def write(self, prompts: Sequence[str], done: Callable[[str], bool]) -> list[str]:
        self.prompts += prompts
        return [self.answers[prompt.splitlines()[2].removeprefix("Sentence: ")] for prompt in prompts]


class Judging:
    """Entails with the probability that is given for a claim, 1 where none is."""

    identity = "table"

    def __init__(self, entailed: Mapping[str, float | None]) -> None:
        self.entailed = entailed
        self.pairs: list[Pair] = []

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.pairs += pairs
        return [self._said(self.entailed.get(pair.hypothesis, 1.0)) for pair in pairs]

    def _said(self, entailed: float | None) -> Distribution | Failure:
        if entailed is None:
            return Failure(reason="cannot be read")
        return Distribution(entailment=entailed, contradiction=0.0, neutral=1 - entailed)


async def extracted(
    text: str, answers: Mapping[str, str], entailed: Mapping[str, float | None] | None = None
) -> tuple[Extraction, WrittenLines, Judging]:
    writer, relations = WrittenLines(answers), Judging(entailed or {})
    found = await SmallLanguageModelExtractor(lambda: writer, lambda: relations).extract(
        Response(id="r", text=text, topic="Ada Morel")
    )
    return found, writer, relations


async def test_claims_are_the_lines_of_each_sentence_with_its_place() -> None:
    lines = {
        FIRST: "Ada Morel was born in Lyon\nAda Morel studied in Paris.",
        SECOND: "Ada Morel won two prizes.\nAda Morel was born in Lyon.",
    }
    found, writer, relations = await extracted(f"{FIRST} {SECOND}", lines)
    assert [claim.text for claim in found.claims] == [
        "Ada Morel was born in Lyon.",
        "Ada Morel studied in Paris.",
        "Ada Morel won two prizes.",
    ]
    assert [claim.id for claim in found.claims] == ["c1", "c2", "c3"]
    born = [f"{FIRST} {SECOND}"[span.start : span.end] for span in found.claims[0].spans]
    assert born == [FIRST, SECOND]  # said twice
    assert writer.prompts[1].splitlines()[:2] == ["Topic: Ada Morel", f"Before: {FIRST}"]
    assert relations.pairs[2].premise == f"Ada Morel. {FIRST} {SECOND}"
    assert not found.counts


async def test_what_is_invented_or_not_entailed_is_thrown_away_and_counted() -> None:
    invented, silent, unread = "Ada Morel won three prizes.", "Ada Morel won in 1990.", "Prizes won Ada Morel."
    lines = {SECOND: "\n".join((invented, "Ada Morel won two prizes.", silent, unread))}
    found, *_ = await extracted(SECOND, lines, {silent: LEAST_ENTAILMENT - 0.01, unread: None})
    assert [claim.text for claim in found.claims] == ["Ada Morel won two prizes."]
    assert found.counts == {"thrown_away_number_not_in_text": 1, "thrown_away_not_entailed": 2}


async def test_a_sentence_that_loses_all_keeps_the_claims_of_the_rules() -> None:
    found, *_ = await extracted(FIRST, {FIRST: "Eva was born in Rome."})
    by_rules = await RuleExtractor().extract(Response(id="r", text=FIRST, topic="Ada Morel"))
    assert found.claims == by_rules.claims
    assert found.counts == {"thrown_away_name_not_in_text": 1, "sentences_by_rules": 1}


async def test_a_sentence_of_which_nothing_is_written_is_dropped() -> None:
    found, *_ = await extracted(f"{FIRST} {SECOND}", {FIRST: "", SECOND: "Ada Morel won two prizes."})
    assert [claim.text for claim in found.claims] == ["Ada Morel won two prizes."]
    assert found.dropped == {NOTHING: 1}


async def test_what_is_asked_is_left_to_the_rules() -> None:
    text = f'"Was Ada Morel born in Lyon?" asked her uncle in Paris. {SECOND}'
    found, writer, _ = await extracted(text, {SECOND: "Ada Morel won two prizes."})
    assert len(writer.prompts) == 1
    by_rules = await RuleExtractor().extract(Response(id="r", text=text, topic="Ada Morel"))
    assert [claim.text for claim in found.claims] == [
        *(claim.text for claim in by_rules.claims[:-1]),
        "Ada Morel won two prizes.",
    ]


async def test_another_language_is_left_to_the_rules_and_loads_nothing() -> None:
    def never() -> WrittenLines:
        raise AssertionError("no sentence in English")

    text = "Die Brücke wurde im Jahr 1932 von dem Ingenieur gebaut. Sie ist mit der Stadt verbunden."
    found = await SmallLanguageModelExtractor(never, lambda: Judging({})).extract(Response(id="r", text=text))
    assert found == await RuleExtractor().extract(Response(id="r", text=text))


async def test_models_are_loaded_once_however_many_responses() -> None:
    loaded: list[str] = []
    writer, relations = WrittenLines({SECOND: "Ada Morel won two prizes."}), Judging({})

    def load() -> WrittenLines:
        loaded.append("writer")
        return writer

    extractor = SmallLanguageModelExtractor(load, lambda: relations)
    for _ in range(2):
        await extractor.extract(Response(id="r", text=SECOND, topic="Ada Morel"))
    assert loaded == ["writer"]

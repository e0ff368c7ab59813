"""Claims and passages of one letter, evidence by their letters, and relations made by hand, for assessors."""

from localfact.assess.factreasoner import FactReasoner
from localfact.records import Claim, Distribution, Evidence, Hit, Judgement, Passage, Response, passage_id

RESPONSE = Response(id="r", text="A text.")
NEUTRAL = Distribution(entailment=0.1, contradiction=0.1, neutral=0.8)


def entails(p: float) -> Distribution:
    return Distribution(entailment=p, contradiction=(1 - p) / 2, neutral=(1 - p) / 2)


def contradicts(p: float) -> Distribution:
    return Distribution(entailment=(1 - p) / 2, contradiction=p, neutral=(1 - p) / 2)


def claim(name: str) -> Claim:
    return Claim(id=name, text=f"claim {name}")


def passage(name: str, host: str | None = None) -> Passage:
    return Passage(id=passage_id(f"passage {name}"), text=f"passage {name}", host=host)


def evidence(hits: dict[str, str], affinity: dict[str, dict[str, float]] | None = None, host: str | None = None) -> Evidence:
    """Passages are one letter each; `hits` gives the letters found for each claim, best first."""
    letters = list(dict.fromkeys("".join(hits.values())))
    return Evidence(
        passages=tuple(passage(letter, host) for letter in letters),
        hits={
            name: tuple(
                Hit(passage_id=passage(letter).id, rank=rank, score=1 / rank) for rank, letter in enumerate(found, start=1)
            )
            for name, found in hits.items()
        },
        affinity={
            name: {passage(letter).id: score for letter, score in scores.items()} for name, scores in (affinity or {}).items()
        },
    )


def predictions(assessor: FactReasoner, claims: list[Claim], found: Evidence, told: dict[tuple[str, str], object]):
    """All predictions the assessor asks for: those told, by passage letter and claim id or second letter; else neutral."""
    names = {passage(letter).text: letter for letter in "cdefgh"} | {each.text: each.id for each in claims}
    return {pair: told.get((names[pair.premise], names[pair.hypothesis]), NEUTRAL) for pair in assessor.pairs(claims, found)}


async def judge(assessor: FactReasoner, claims: list[Claim], found: Evidence, told: dict[tuple[str, str], object]) -> Judgement:
    return await assessor.assess(RESPONSE, claims, found, predictions(assessor, claims, found, told))

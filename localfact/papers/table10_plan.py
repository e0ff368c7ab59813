"""What each row of Table 10 would ask, and how long that takes: `localfact papers table10 --plan`. Nothing is run or loaded.

Needs no weights: pairs are counted over the responses, tokens are reckoned from characters, hours from data sheets
(`llm/placing/rates.py`). A pair that an earlier row, or a run before, has asked is not asked again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from localfact.api.sample import sample_responses
from localfact.inputs.responses import read_responses
from localfact.llm.placing.hardware import detect
from localfact.llm.placing.rates import SAID, TokenWork, hours_of
from localfact.methods.engine import engine_facts
from localfact.methods.factreasoner import factreasoner
from localfact.methods.options import Options
from localfact.methods.registry import find_method
from localfact.methods.relations import LEXICAL, LLM, read_kept_relations, relation_card
from localfact.methods.settings import FactReasonerSettings
from localfact.models.cards import load_card
from localfact.papers.table10 import RUN_ORDER, options_for, settle
from localfact.pipeline import title_premises
from localfact.records import Claim, Pair, Record, Response

#: Characters a token has in English, about. Tokens of a passage that is not known yet, which has at most 4,000 characters, and
#: of a claim with what stands around it.
CHARACTERS, PAGE_TOKENS, CLAIM_TOKENS = 4, 1_000, 40
#: Parameters that compute for a token, in 10^9, where layers share their weights.
COMPUTING: Mapping[str, float] = {"albert-vitaminc": 1.2}


class PlannedRow(Record):
    """A row that is planned.

    Attributes:
        pairs: of the row. asked: those that no earlier row and no kept file has.
        tokens: to be read for these. A language model reads a passage once for all that is asked about it.
        hours: they take. on: the hardware that they are reckoned for.
    """

    relations: str
    version: int
    pairs: int
    asked: int
    tokens: int
    hours: float
    on: str

    @property
    def shown(self) -> dict[str, str]:
        """The row for readers."""
        figures = {"pairs": f"{self.pairs:,}", "to ask": f"{self.asked:,}", "tokens": f"{self.tokens:,}"}
        return {"row": f"FR{self.version} with {self.relations}", **figures, "hours": f"{self.hours:,.2f}", "on": self.on}


class Planned(Record):
    """The rows in the order in which they would be run, and what was assumed."""

    rows: tuple[PlannedRow, ...]
    notes: tuple[str, ...]


class Reckoned(NamedTuple):
    """Pairs of texts that are not known: of passages and claims, of passages; and how many passages there are."""

    claims: int = 0
    passages: int = 0
    premises: int = 0


def plan_rows(
    data: Path | None,
    *,
    relations: Sequence[str],
    options: Options,
    versions: Sequence[int] = RUN_ORDER,
    out: Path | None = None,
    limit: int | None = None,
) -> Planned:
    """Plans the rows that `row_jobs` would make of the same arguments.

    Raises:
        InputError: the file or a relation model cannot be used. MissingError: a language model whose card gives no sizes.
    """
    names, options, folder = settle(data, relations, options, out, limit)
    responses = [one for one in read_responses(data or sample_responses(), limit=limit) if one.problem is None]
    notes = [f"Hours are reckoned {SAID}; starting is left out. Tokens: characters divided by {CHARACTERS}."]
    notes += tell_unknown(responses, options.k or 0)
    asked = {version: pairs_of(version, responses, options) for version in sorted(set(versions))}
    rows: list[PlannedRow] = []
    for name in names:
        chosen = options_for(name, options, folder, extracts=False)
        reader = reader_of(name, chosen)
        notes += reader.notes
        file = chosen.relations_cache
        done, before = set[Pair](), Reckoned()
        for version, (known, reckoned) in asked.items():
            kept = read_kept_relations(file, known, of=name) if file is not None else {}
            fresh = [pair for pair in known if pair not in done and not kept.get(pair)]
            more = Reckoned(reckoned.claims - before.claims, reckoned.passages - before.passages, reckoned.premises)
            tokens = reader.tokens(fresh, more)
            rows.append(
                PlannedRow(
                    relations=name,
                    version=version,
                    pairs=len(known) + reckoned.claims + reckoned.passages,
                    asked=len(fresh) + more.claims + more.passages,
                    tokens=tokens,
                    hours=reader.hours(tokens),
                    on=reader.on,
                )
            )
            done, before = done.union(known), reckoned
    return Planned(rows=tuple(rows), notes=tuple(dict.fromkeys(notes)))


def pairs_of(version: int, responses: Iterable[Response], options: Options) -> tuple[list[Pair], Reckoned]:
    """The pairs of one version: texts of responses that bring claims and passages; how many others there are at most."""
    method = find_method(f"factreasoner-fr{version}")
    settings = method.assessment(options, [LEXICAL])
    if not isinstance(settings, FactReasonerSettings):
        raise AssertionError("every row of the table is a version of FactReasoner")
    known: dict[Pair, None] = {}
    claims = passages = premises = 0
    for response in responses:
        mine: tuple[Claim, ...] = response.claims or ()
        if response.evidence is not None:
            pairs = factreasoner(settings).pairs(mine, response.evidence)
            known |= dict.fromkeys(title_premises(pairs, response.evidence).values() if settings.premise_titles else pairs)
            continue
        found = len(mine) * (options.k or 0)
        claims += found if version == 1 else len(mine) * found
        passages += found * (found - 1) if version == 3 and found else 0
        premises += found
    return list(known), Reckoned(claims, passages, premises)


def tell_unknown(responses: Sequence[Response], k: int) -> Iterator[str]:
    """What is not known before the run, and what stands for it."""
    if without := sum(one.claims is None for one in responses):
        yield f"{without} responses bring no claims: what will be extracted of them is not in the plan."
    if searched := sum(one.claims is not None and one.evidence is None for one in responses):
        yield f"{searched} responses bring no passages: {k} a claim are assumed, each another one of {PAGE_TOKENS:,} tokens."


class Reader(NamedTuple):
    """A relation model as a plan knows it.

    Attributes:
        parameters: that compute, in 10^9; 0 for word overlap.
        machine: as `hours_of` takes it. on: in words.
        once: whether a passage is read once for all its pairs.
        full_width: whether it computes in float32.
        notes: what to know of it.
    """

    parameters: float
    machine: Mapping[str, object]
    on: str
    once: bool = False
    full_width: bool = False
    notes: tuple[str, ...] = ()

    def hours(self, tokens: int) -> float:
        """Hours for so many tokens."""
        return hours_of(TokenWork(tokens), self.parameters, self.machine, encoder=not self.once, full_width=self.full_width)

    def tokens(self, pairs: Sequence[Pair], more: Reckoned) -> int:
        """Tokens to be read for pairs, and for pairs that are not known."""
        if not self.parameters:
            return 0
        if self.once:
            premises = sum(len(text) for text in {pair.premise for pair in pairs})
            known = premises + sum(len(pair.hypothesis) + CHARACTERS * CLAIM_TOKENS // 2 for pair in pairs)
            begun = more.premises * PAGE_TOKENS if more.claims or more.passages else 0
            return known // CHARACTERS + begun + more.claims * CLAIM_TOKENS + more.passages * PAGE_TOKENS
        known = sum(min(2 * PAGE_TOKENS, (len(pair.premise) + len(pair.hypothesis)) // CHARACTERS) for pair in pairs)
        return known + more.claims * (PAGE_TOKENS + CLAIM_TOKENS) + more.passages * 2 * PAGE_TOKENS


def reader_of(name: str, options: Options) -> Reader:
    """The relation model of that name, on this machine or, of a language model, on one that it fits.

    Raises:
        InputError: there is no such relation model, or no --model for llm. MissingError: a card without sizes.
    """
    if name == LEXICAL:
        return Reader(0, {"device": "cpu"}, "CPU")
    if name == LLM:
        card = load_card(options.model or "") if options.model else None
        machine = engine_facts(options, planning=True).machine
        count = int(machine.get("tensor_parallel", 1)) * int(machine.get("replicas", 1))
        words = "CPU" if machine.get("device") == "cpu" else f"{count} of {machine.get('found')}"
        told = (str(machine["assumed"]),) if "assumed" in machine else ()
        return Reader((card and card.parameters) or 1.0, machine, words, once=True, notes=told)
    card = relation_card(name)
    hardware = detect()
    on_gpu = bool(hardware.gpus)
    machine = {"device": "cuda" if on_gpu else "cpu", "found": hardware.describe()}
    computing = COMPUTING.get(name, card.parameters or 0.1)
    on = f"1 of {hardware.describe()}" if on_gpu else "CPU"
    return Reader(computing, machine, on, full_width=card.precision == "float32")

"""Extracts atomic units from a response in one call of a language model (FactReasoner, section 3.3, Atomizer).

`reviser.py` then makes each understandable without its context.
"""

from collections import Counter
from collections.abc import Sequence

from localfact.claims.asking import PromptedExtractor
from localfact.claims.chunks import Chunk, ClaimLocator, Stride
from localfact.claims.lines import ParsedAnswer
from localfact.claims.merging import MergedClaims
from localfact.claims.units import Unit, read_units
from localfact.llm.engine import Chat, Generation, Grammar
from localfact.prompts import atomization_chat, boundary_of
from localfact.prompts.grammars import atomization_grammar
from localfact.records import Claim, Response


class Atomizer(PromptedExtractor[Unit]):
    """Prompts an engine for the atomic units of a response: in one call, or in parts where text or answer is too long for one.

    Calls are counted under `asking.EXTRACT`. Arguments as `PromptedExtractor`.
    """

    stride: Stride = "max"

    def _chat(self, response: Response, before: str, text: str, after: str) -> Chat:
        return atomization_chat(
            response.prompt, response.topic, before, text, after, boundary=boundary_of(self.engine, self.seed)
        )

    def _grammar(self, text: str, *, claims: bool) -> Grammar:
        return atomization_grammar(text, claims=claims)

    def _read(self, text: str, *, cut: bool) -> ParsedAnswer[Unit]:
        return read_units(text, cut=cut)

    async def _claims(
        self, chat: Chat, chunk: Chunk, generation: Generation, answer: ParsedAnswer[Unit], tally: Counter[str]
    ) -> tuple[Claim, ...]:
        numbers = [unit.number for unit in answer.claims]
        tally["answers_misnumbered"] += numbers != list(range(1, len(numbers) + 1))
        locator = ClaimLocator(chunk)
        return tuple(Claim(id="", text=unit.text, spans=locator.locate(unit.text)) for unit in answer.claims)

    def _counts(self, tally: Counter[str], kept: MergedClaims, claims: Sequence[Claim]) -> dict[str, int]:
        return {
            "answers_misnumbered": tally["answers_misnumbered"],
            "duplicates_merged": kept.duplicates,
            "claims_unlocated": sum(not claim.spans for claim in claims),
        }


class WindowedAtomizer(Atomizer):
    """One call a sentence, shown in its window of three sentences before and one after (VeriScore, Song et al. 2024)."""

    stride = 1

"""Keeps a reasoning model's thoughts out of the claims, whoever extracts them: what is thought is not answered."""

from dataclasses import dataclass

from localfact.records import Extraction, Response
from localfact.stages import ClaimExtractor
from localfact.thoughts import find_thoughts

#: Its name in `Extraction.counts`.
TRACES = "reasoning_traces"
WARNING = "A reasoning trace was left out of a response: what stands in it is not the answer."


@dataclass(frozen=True)
class AnswerOnly:
    """Takes thoughts and marks of channels off each response before its claims are extracted.

    Attributes:
        extractor: reads what is left; it stands at its own place in the response.
    """

    extractor: ClaimExtractor

    async def extract(self, response: Response) -> Extraction:
        """Returns the extractor's claims; counts a response with a trace, and says so."""
        text = response.text
        for span in find_thoughts(text):
            begins_line = not text[: span.start].rpartition("\n")[2].strip()
            # So many spaces before what follows would make it a block of code.
            blank = " " * (span.end - span.start - 1) + ("\n" if begins_line else " ")
            text = text[: span.start] + blank + text[span.end :]
        if text == response.text:
            return await self.extractor.extract(response)
        answered = bool(text.strip())
        found = await self.extractor.extract(response.model_copy(update={"text": text})) if answered else Extraction()
        return found.model_copy(
            update={"counts": {**found.counts, TRACES: 1}, "warnings": (*found.warnings, WARNING)},
        )

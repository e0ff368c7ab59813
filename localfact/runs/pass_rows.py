"""The rows that a pass writes, in the schema that `inputs.py` reads, and what a whole file of them adds up to.

A row of claims is the response with the extractor's claims in place of the annotator's, which are kept beside them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from localfact.inputs.claims import claim_row
from localfact.llm.engine import EngineIdentity, Generation
from localfact.runs.row_file import ERROR
from localfact.inputs.prompts import Prompt
from localfact.records import Claim, Extraction, Passage, Record, Response
from localfact.text import readable

#: The stage that the calls of a generation are counted under.
GENERATE = "generate"
#: The instructions about length that a generation may add, by name.
Instruction = Literal["two-paragraphs"]
#: How many failed rows a summary tells the reasons of.
REASONS_SHOWN = 3

Row = dict[str, Any]
Usage = Mapping[str, Mapping[str, int]]


class GenerationOptions(Record):
    """What decides a response besides the prompt and the model.

    Attributes:
        temperature: 0 always takes the most probable token.
        max_tokens: a response is cut there, marked, and counted.
        instruction: "two-paragraphs" asks for at most two paragraphs (FactReasoner, section 4); None adds nothing.
    """

    temperature: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    seed: int = 0
    instruction: Instruction | None = None


GREEDY = GenerationOptions()


class PassSummary(Record):
    """What the output of a pass holds when it is complete; the same however often it was interrupted.

    Attributes:
        out: the file that was written.
        rows: how many it has; failed of them could not be made and carry an `error_message`.
        counts: named whole numbers: claims, unparsed lines, responses cut short, ...
        usage: stage -> calls, requests, prompt and output tokens of the language model, of all rows.
        warnings: sentences the reader must know.
    """

    out: Path
    rows: int
    failed: int
    counts: Mapping[str, int]
    usage: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0, or 1 when rows failed."""
        return 1 if self.failed else 0


def response_row(response: Response) -> Row:
    """The response as it came, with its passages and its annotation, without claims of an extractor."""
    row = present(id=response.id, prompt=response.prompt, topic=response.topic, model=response.model, source=response.source)
    if response.text or response.problem is None:
        row["response"] = response.text
    annotation = annotation_rows(response)
    if annotation is not None:
        row["annotation"] = annotation
    if response.evidence is not None:
        row["passages"] = [passage_row(passage) for passage in response.evidence.passages]
    return row


def annotation_rows(response: Response) -> list[Row] | None:
    """The annotator's claims with the passages that the input names for each; None where nobody annotated."""
    if response.annotation is not None:
        return [claim_row(claim) for claim in response.annotation]
    if response.claims is None or all(claim.gold is None for claim in response.claims):
        return None
    return [annotated_row(claim, response) for claim in response.claims]


def annotated_row(claim: Claim, response: Response) -> Row:
    """One of the annotator's claims."""
    hits = response.evidence.hits.get(claim.id, ()) if response.evidence is not None else ()
    return claim_row(claim) | ({"passages": [hit.passage_id for hit in hits]} if hits else {})


def passage_row(passage: Passage) -> Row:
    """A passage that came with a response."""
    row = present(id=passage.id, title=passage.title or None, date=passage.date, text=passage.text)
    return row | ({"links": list(passage.links)} if passage.links else {})


def claims_row(response: Response, extraction: Extraction, extractor: Mapping[str, Any], usage: Usage) -> Row:
    """The response with the claims of an extractor, and what else it said."""
    return response_row(response) | {
        "claims": [claim_row(claim) for claim in extraction.claims],
        "extraction": extraction.model_dump(mode="json", exclude={"claims"}) | {"usage": usage},
        "extractor": dict(extractor),
    }


def prompt_row(prompt: Prompt, identity: EngineIdentity) -> Row:
    """A prompt with the name of the model that is to answer it."""
    named = present(id=prompt.id, prompt=prompt.text or None, topic=prompt.topic, source=prompt.source, canary=prompt.canary)
    return named | {"model": identity.model}


def generation_row(prompt: Prompt, generation: Generation, identity: EngineIdentity, options: GenerationOptions) -> Row:
    """A prompt with the model's answer and how it was made."""
    facts = {
        "revision": identity.revision,
        "quantisation": identity.quantisation,
        **options.model_dump(),
        "finish": generation.finish,
        "prompt_tokens": generation.usage.prompt_tokens,
        "output_tokens": generation.usage.output_tokens,
    }
    return prompt_row(prompt, identity) | {"response": readable(generation.text), "generation": facts}


def present(**fields: str | None) -> Row:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def extract_summary(out: Path, rows: Sequence[Row], warnings: Sequence[str]) -> PassSummary:
    """What a claims file holds."""
    made = [row for row in rows if ERROR not in row]
    counts: Counter[str] = Counter()
    usage: dict[str, Counter[str]] = {}
    said: Counter[str] = Counter()
    for row in made:
        counts.update(row["extraction"]["counts"])
        said.update(row["extraction"]["warnings"])
        for stage, sums in row["extraction"]["usage"].items():
            usage.setdefault(stage, Counter()).update(sums)
    counts["claims"] = sum(len(row["claims"]) for row in made)
    counts["abstained"] = sum(not row["claims"] for row in made)
    counts["lines_unparsed"] = sum(len(row["extraction"]["unparsed"]) for row in made)
    told = [f"{sentence} ({number} responses)" if number > 1 else sentence for sentence, number in said.items()]
    return PassSummary(
        out=out,
        rows=len(rows),
        failed=len(rows) - len(made),
        counts=counts,
        usage=usage,
        warnings=(*warnings, *failures(rows), *told),
    )


def generate_summary(
    out: Path, rows: Sequence[Row], repeated: int, options: GenerationOptions, warnings: Sequence[str]
) -> PassSummary:
    """What a file of responses holds."""
    made = [row for row in rows if ERROR not in row]
    facts = [row["generation"] for row in made]
    cut = sum(fact["finish"] == "length" for fact in facts)
    empty = sum(not row["response"].strip() for row in made)
    told = []
    if cut:
        told.append(f"{cut} responses were cut at {options.max_tokens} tokens (--max-tokens), or at the end of the window.")
    if empty:
        told.append(f"{empty} responses are empty.")
    if repeated:
        told.append(f"{repeated} rows repeat the id and the text of an earlier prompt and were answered once.")
    tokens = {name: sum(fact[name] for fact in facts) for name in ("prompt_tokens", "output_tokens")}
    return PassSummary(
        out=out,
        rows=len(rows),
        failed=len(rows) - len(made),
        counts={"cut": cut, "empty": empty, "repeated": repeated},
        usage={GENERATE: {"calls": len(made), "requests": len(made), **tokens}} if made else {},
        warnings=(*warnings, *failures(rows), *told),
    )


def failures(rows: Sequence[Row]) -> list[str]:
    """One sentence for the rows that could not be made, with the first reasons."""
    reasons = [f"{row['id']}: {row[ERROR]}" for row in rows if ERROR in row]
    more = " ..." if len(reasons) > REASONS_SHOWN else ""
    return [f"{len(reasons)} rows failed. {' '.join(reasons[:REASONS_SHOWN])}{more}"] if reasons else []

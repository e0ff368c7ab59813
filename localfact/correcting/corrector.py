"""Corrects one assessed response: edits are proposed, what the claims become by them is assessed, and few are made.

An edit is made where its claim is then more likely true than not, and no supported claim has the words that it changes or
becomes unlikely by it. Everything is in the order of the text, so the same assessment gives the same correction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from localfact.correcting.asking import GROUP, EditWriter
from localfact.correcting.placing import edit_text, find_place, move_spans, says
from localfact.correcting.proposals import Proposal, propose
from localfact.correcting.reassessing import holds, reassess
from localfact.correcting.records import Correction, EditSource, Left, TextEdit
from localfact.correcting.wording import Change
from localfact.pipeline import Costs, Observer, Pipeline
from localfact.records import Assessment, Claim, CountedPassage, Passage, Span, Verdict
from localfact.runtime.tasks import together
from localfact.runtime.usage import usage_counted_in
from localfact.vocabulary import RelationLabel, VerdictLabel

#: The passages against a claim by which it is corrected: the strongest.
MOST_SOURCES = 2
NO_SOURCE = "No passage that speaks against it is kept."
NO_PROPOSAL = "The source has no other number, date, name, place or role for it."
NO_ANSWER = (
    "The source has no other number, date, name, place or role for it, and the language model proposed nothing that fits."
)
UNLIKELY = "With the likeliest edit it would still be no more likely true than false ({posterior})."
SUPPORTED_THERE = "A supported claim has the same words there."
OVERLAPS = "Another edit is made there."
NOT_TOGETHER = "Among the other claims it would be no more likely true than false with its edit."
LOWERS = "With its edit, a supported claim would be less likely true than not."


class Attempt(NamedTuple):
    """An edit that may be made for a claim, and how likely the claim is true with it."""

    claim: Claim
    proposal: Proposal
    place: Span
    old: str
    new: str
    likely: float = 0.0

    @property
    def worded(self) -> Claim:
        """The claim with the edit; what was thought of it before any evidence was of the other words."""
        text = self.proposal.change.apply_to(self.claim.text)
        return self.claim.model_copy(update={"text": text, "original": None, "preverification": None})


@dataclass(frozen=True)
class Corrector:
    """Corrects responses by the pipeline that assessed them; a writer proposes edits where rules have none."""

    pipeline: Pipeline
    writer: EditWriter | None = None

    async def correct(self, assessed: Assessment, costs: Costs, observe: Observer) -> Correction:
        """The correction of a response. Adds what it costs to `costs`.

        Raises:
            LocalFactError: the claims could not be assessed again.
        """
        work = _Work(self, assessed, costs, observe)
        with usage_counted_in(costs.ledger):
            return await work.correct()


class _Work:
    """The correction of one response."""

    def __init__(self, by: Corrector, assessed: Assessment, costs: Costs, observe: Observer) -> None:
        self._by, self._assessed, self._costs, self._observe = by, assessed, costs, observe
        self._passages = {passage.id: passage for passage in assessed.passages}
        self._verdicts = {verdict.claim_id: verdict for verdict in assessed.verdicts}
        self._wrong = [claim for claim in assessed.claims if self._label(claim) is VerdictLabel.CONTRADICTED]
        self._left: dict[str, str] = {}

    async def correct(self) -> Correction:
        by_rule = {claim.id: self._by_rule(claim) for claim in self._wrong}
        surest = await self._try(by_rule)
        if self._by.writer is not None:
            open_claims = [claim for claim in self._wrong if claim.id not in surest]
            asked = await together(self._by_model(claim, self._by.writer) for claim in open_claims)
            surest |= await self._try({claim.id: said for claim, said in zip(open_claims, asked, strict=True)})
        made = self._without_conflicts([surest[claim.id] for claim in self._wrong if claim.id in surest])
        made, reassessed = await self._that_hold(made)
        original = self._assessed.text
        return Correction(
            original=original,
            text=reassessed.text,
            edits=tuple(self._edits(made, reassessed)),
            left=tuple(
                Left(claim=claim.id, text=claim.text, reason=self._left[claim.id])
                for claim in self._wrong
                if claim.id not in {one.claim.id for one in made}
            ),
            assessed=self._assessed,
            reassessed=reassessed,
            usage=self._costs.ledger.repeatable(),
        )

    def _label(self, claim: Claim) -> VerdictLabel:
        return self._verdicts[claim.id].label

    def _against(self, claim: Claim) -> list[tuple[CountedPassage, Passage]]:
        """What speaks against a claim, the strongest first."""
        against = (None, RelationLabel.CONTRADICTION)
        counted = [one for one in self._verdicts[claim.id].passages if one.relation in against]
        return [(one, self._passages[one.passage_id]) for one in counted if one.passage_id in self._passages][:MOST_SOURCES]

    def _by_rule(self, claim: Claim) -> list[Attempt]:
        sources = self._against(claim)
        proposals: dict[Change, Proposal] = {}
        for counted, passage in sources:
            for proposal in propose(claim, counted, passage, self._assessed.topic):
                proposals.setdefault(proposal.change, proposal)
        self._left[claim.id] = NO_PROPOSAL if sources else NO_SOURCE
        return self._place_proposals(claim, list(proposals.values()))

    async def _by_model(self, claim: Claim, writer: EditWriter) -> list[Attempt]:
        said = [proposal for one in self._against(claim)[:1] if (proposal := await writer.propose(claim, *one))]
        if not said and self._left[claim.id] == NO_PROPOSAL:
            self._left[claim.id] = NO_ANSWER
        return self._place_proposals(claim, said)

    def _place_proposals(self, claim: Claim, proposals: Sequence[Proposal]) -> list[Attempt]:
        """The proposals whose words stand in the text; where none do, why."""
        found = []
        for proposal in proposals:
            place = find_place(self._assessed.text, claim, proposal.change)
            if isinstance(place, str):
                self._left[claim.id] = place
                continue
            change, there = proposal.change, self._assessed.text[place.start : place.end]
            new = change.new
            if there[:1].islower() and claim.text[change.start : change.start + 1].isupper():
                new = new[:1].lower() + new[1:]
            found.append(Attempt(claim, proposal, place, there, new))
        return found

    async def _try(self, attempts: Mapping[str, Sequence[Attempt]]) -> dict[str, Attempt]:
        """The surest attempt of each claim with which it is more likely true than not, of the first group that has one."""
        variants = {f"{claim}~{number}": one for claim, several in attempts.items() for number, one in enumerate(several, 1)}
        if not variants:
            return {}
        claims = [one.worded.model_copy(update={"id": name}) for name, one in variants.items()]
        likes = {name: one.claim.id for name, one in variants.items()}
        judged = await reassess(
            self._by.pipeline, self._assessed, self._assessed.text, claims, self._costs, self._observe, likes=likes
        )
        best: dict[str, Attempt] = {}
        for verdict in judged.verdicts:
            one = variants[verdict.claim_id]._replace(likely=likelihood(verdict))
            known = best.get(one.claim.id)
            if known is None or _rank(one) > _rank(known):
                best[one.claim.id] = one
        for claim, one in best.items():
            self._left[claim] = UNLIKELY.format(posterior=f"{one.likely:.2f}")
        return {claim: one for claim, one in best.items() if one.likely > 0.5}

    def _without_conflicts(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Those that change no word of a supported claim, and of overlapping ones the surest; equal ones stay together."""
        kept: list[Attempt] = []
        supported = [claim for claim in self._assessed.claims if self._label(claim) is VerdictLabel.SUPPORTED]
        for one in sorted(attempts, key=lambda one: (-one.likely, one.place.start, one.place.end)):
            if any(says(claim, one.place, one.old) for claim in supported):
                self._left[one.claim.id] = SUPPORTED_THERE
            elif any(_overlap(one, other) and (one.place, one.new) != (other.place, other.new) for other in kept):
                self._left[one.claim.id] = OVERLAPS
            else:
                kept.append(one)
        return sorted(kept, key=lambda one: (one.place.start, self._wrong.index(one.claim)))

    async def _that_hold(self, made: list[Attempt]) -> tuple[list[Attempt], Assessment]:
        """The edits that are true together and cost no supported claim, and the assessment of the text with them."""
        while made:
            edits = {one.place: one.new for one in made}
            claims = [self._edit_claim(claim, made, edits) for claim in self._assessed.claims]
            text = edit_text(self._assessed.text, edits)
            judged = await reassess(self._by.pipeline, self._assessed, text, claims, self._costs, self._observe)
            after = {verdict.claim_id: verdict for verdict in judged.verdicts}
            failing = [one for one in made if not holds(after[one.claim.id])]
            self._left |= {one.claim.id: NOT_TOGETHER for one in failing}
            lowered = [claim for claim in self._assessed.claims if self._is_lowered(claim, after[claim.id])]
            if not failing and not lowered:
                return made, judged
            if not failing:  # the least sure of those that share a passage with the claim is taken back, else of all
                shared = {one.passage_id for claim in lowered for one in self._verdicts[claim.id].passages}
                near = [one for one in made if one.proposal.passage.id in shared] or made
                failing = [min(near, key=lambda one: one.likely)]
                self._left |= {one.claim.id: LOWERS for one in failing}
            made = [one for one in made if (one.place, one.new) not in {(gone.place, gone.new) for gone in failing}]
        return [], self._assessed

    def _is_lowered(self, claim: Claim, after: Verdict) -> bool:
        before = self._verdicts[claim.id]
        return before.label is VerdictLabel.SUPPORTED and holds(before) and not holds(after)

    def _edit_claim(self, claim: Claim, made: Sequence[Attempt], edits: Mapping[Span, str]) -> Claim:
        """A claim as it stands in the edited text: in other words only where it has the words of an edit in its place."""
        changed = next((one.worded for one in made if one.claim.id == claim.id), None)
        if changed is None and self._label(claim) is not VerdictLabel.SUPPORTED:
            text = claim.text
            for one in made:
                text = text.replace(one.old, one.new) if says(claim, one.place, one.old) else text
            changed = claim if text == claim.text else claim.model_copy(update={"text": text, "preverification": None})
        return (changed or claim).model_copy(update={"spans": move_spans(claim.spans, edits)})

    def _edits(self, made: Sequence[Attempt], reassessed: Assessment) -> list[TextEdit]:
        after = {verdict.claim_id: verdict.posterior for verdict in reassessed.verdicts}
        found: dict[Span, TextEdit] = {}
        for one in made:
            if (known := found.get(one.place)) is not None:
                found[one.place] = known.model_copy(update={"claims": (*known.claims, one.claim.id)})
                continue
            found[one.place] = TextEdit(
                claims=(one.claim.id,),
                place=one.place,
                old=one.old,
                new=one.new,
                by="model" if one.proposal.group == GROUP else "value",
                source=source_of(one.proposal),
                before=self._verdicts[one.claim.id].posterior,
                after=after[one.claim.id],
            )
        return list(found.values())


def likelihood(verdict: Verdict) -> float:
    """How likely a claim is true; 1 or 0 by its label where the method computes no probability."""
    return float(holds(verdict)) if verdict.posterior is None else verdict.posterior


def source_of(proposal: Proposal) -> EditSource:
    """What a proposal goes by."""
    passage, place = proposal.passage, proposal.sentence
    return EditSource(
        passage=passage.id,
        title=passage.title,
        url=next(iter(passage.links), None),
        quote=passage.text[place.start : place.end] if place else passage.text,
        place=place,
    )


def _rank(one: Attempt) -> tuple[bool, int, float]:
    likely = one.likely > 0.5
    return likely, -one.proposal.group if likely else 0, one.likely


def _overlap(one: Attempt, other: Attempt) -> bool:
    return one.place.start < other.place.end and other.place.start < one.place.end

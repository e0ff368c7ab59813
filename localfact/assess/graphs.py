"""The factor graph behind an assessment, made again from what the assessment keeps, for other solvers and for readers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from localfact.assess.factors import claim_variable
from localfact.assess.factreasoner import FactReasoner
from localfact.assess.linking import passage_variable
from localfact.records import Assessment, Claim
from localfact.vocabulary import VerdictLabel


def graph_of(assessment: Assessment, reasoner: FactReasoner, claims: Sequence[Claim]) -> Mapping[str, Any]:
    """The graph in the schema that `inference.reading` reads, with the texts of its variables.

    Passages without a relation are left out, as they move no posterior. Of one that no verdict lists the assessment has no
    text and no host: its prior is that of passages in general.

    Args:
        reasoner: with the settings of the run.
        claims: those in the graph; failed ones are left out.
    """
    failed = {verdict.claim_id for verdict in assessment.verdicts if verdict.label is VerdictLabel.FAILED}
    judged = {claim.id: claim for claim in claims if claim.id not in failed}
    passages = {passage.id: passage for passage in assessment.passages}
    seen: Counter[tuple[str, str]] = Counter()
    contexts: dict[str, float] = {}
    texts = {claim_variable(claim): claim.text for claim in judged.values()}
    relations = []
    for relation in assessment.relations:
        seen[relation.source, relation.target] += 1
        ends = (relation.source, relation.target)
        source, target = (claim_variable(judged[end]) if end in judged else passage_variable(end) for end in ends)
        if (
            reasoner.version == 1 and relation.source not in judged
        ):  # each claim has its passages for itself, a repeated one as often as it was found
            source = f"{source} of {target}, {seen[relation.source, relation.target]}"
        for variable, end in ((source, relation.source), (target, relation.target)):
            if end in passages:
                contexts[variable] = reasoner.passage_prior_of(passages[end])
                texts[variable] = passages[end].text
            elif end not in judged:
                contexts[variable] = reasoner.passage_prior
        relations.append(
            {"source": source, "target": target, "type": relation.label.value, "probability": relation.probability}
        )
    return {
        "variant": reasoner.tables,
        "passage_prior": reasoner.passage_prior,
        "atoms": {claim_variable(claim): reasoner.claim_prior_of(claim) for claim in judged.values()},
        "contexts": contexts,
        "relations": relations,
        "texts": texts,
    }

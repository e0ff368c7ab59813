"""What the data that the shipped relation model is trained on may be used for, as its sources state it, set by set.

The model's card repeats it. A set that is not in this table is not trained on.
"""

from typing import NamedTuple


class Licence(NamedTuple):
    """What a set may be used for.

    Attributes:
        name: the licence, as the set's source states it.
        source: where the set is from.
        reason: why a model trained on it may be redistributed.
    """

    name: str
    source: str
    reason: str


_ATTRIBUTION = "allows any use with attribution, which the card gives; the model holds none of the text"
_PERMISSIVE = "a permissive licence: any use and redistribution; the card keeps the notice of the source"
_SHARE_ALIKE = (
    "allows any use; share-alike binds adaptations of the text, which the model does not hold; the card attributes it"
)

LICENCES = {
    "snli": Licence("CC BY-SA 4.0", "the Stanford NLI corpus, its own release", _SHARE_ALIKE),
    "mnli": Licence(
        "OANC's licence, and for some genres CC BY 3.0, CC BY-SA 3.0 and public domain",
        "the Multi-Genre NLI corpus, its own release",
        "every part allows use and redistribution without a bar on commerce; the card attributes it",
    ),
    "taxinli": Licence(
        "Computational Use of Data Agreement 1.0",
        "microsoft/TaxiNLI",
        "the agreement puts no restriction on the results of computational use, which a trained model is",
    ),
    "cad": Licence("Apache-2.0", "acmi-lab/counterfactually-augmented-data", _PERMISSIVE),
    "conjnli": Licence("MIT", "swarnaHub/ConjNLI", _PERMISSIVE),
    "stance": Licence("Apache-2.0", "yuxiaw/Factcheck-GPT", _PERMISSIVE),
    "stance_joined": Licence("Apache-2.0", "yuxiaw/Factcheck-GPT", _PERMISSIVE),
    "answers": Licence("Apache-2.0", "yuxiaw/Factcheck-GPT", _PERMISSIVE),
    "wice": Licence(
        "annotations ODC-BY; text under Wikipedia's CC BY-SA and Common Crawl's terms",
        "ryokamoi/wice",
        "the annotations ask for attribution only, which the card gives; the model holds none of the text",
    ),
    "expertqa": Licence("MIT", "chaitanyamalaviya/ExpertQA", _PERMISSIVE),
    "factor_news": Licence("ODC-By 1.0, and Common Crawl's terms of use", "AI21Labs/factor", _ATTRIBUTION),
    "factor_expert": Licence("MIT", "AI21Labs/factor", _PERMISSIVE),
    "conflict_nq": Licence("Apache-2.0", "4-en/ConflictNQ", _PERMISSIVE),
    "wikicontradict": Licence("Apache-2.0; text from Wikipedia (CC BY-SA)", "IBM/FactReasoner", _PERMISSIVE),
    "fever_symmetric": Licence("Wikipedia's terms, CC BY-SA 3.0", "TalSchuster/FeverSymmetric", _SHARE_ALIKE),
    "factcg": Licence("MIT", "derenlei/FactCG", _PERMISSIVE),
}

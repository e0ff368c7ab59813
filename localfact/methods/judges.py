"""The methods that the papers compare with: a judge of each claim, with the extraction and evidence of its own paper.

With claims that come with a response (`--claims given`) they judge the same claims as FactReasoner, as in its tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.assess.judges.assessor import PromptedJudge
from localfact.assess.judges.calibration import JudgedPair, TruthCalibration, TruthMap
from localfact.assess.judges.styles import STYLES
from localfact.corpus.passages import PassageKind
from localfact.llm.engine import Engine
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.parts import RunPart
from localfact.methods.settings import JudgeSettings, Settings
from localfact.prompts import Judge
from localfact.relations.reference import reference_name, reference_pairs
from localfact.stages import Assessor
from localfact.vocabulary import RelationLabel


@dataclass(frozen=True)
class JudgeMethod(Method):
    """One call of the language model decides each claim, in the style of its prompt (`assess/judges/styles.py`).

    The defaults are those of FactReasoner's comparison: k of Wikipedia and of the web (section 4).
    """

    passages: PassageKind = "pages"
    k: int = 3
    k_searched: int | None = 5
    merge_near_duplicates: bool = False
    model: Literal["none", "optional", "required"] = "required"
    extractor: str = "atomizer"
    prompts: tuple[Judge] = ("factscore",)
    calls: tuple[str, ...] = ("one a claim for which a passage was found",)

    @property
    def parts(self) -> frozenset[RunPart]:
        """Its answers; or where it decides by the probability of True, what can be calibrated."""
        return frozenset({RunPart.CALIBRATION if STYLES[self.prompts[0]].read is None else RunPart.ANSWERS})

    def assessment(self, options: Options, relations: Sequence[str]) -> JudgeSettings:
        """The judge, the most tokens of its answer, and whether it is to be calibrated."""
        pairs = reference_name() if options.calibrated else None
        return JudgeSettings(judge=self.prompts[0], verification_tokens=options.verification_tokens, truth_map=pairs)

    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """The judge."""
        chosen = settings.assessment
        if engine is None or not isinstance(chosen, JudgeSettings):
            raise AssertionError("a judge is wired with a language model and with settings of its own")
        return PromptedJudge(
            engine,
            STYLES[chosen.judge],
            max_tokens=chosen.verification_tokens,
            seed=settings.seed,
            calibration=_calibration_of(chosen),
        )


def _calibration_of(settings: JudgeSettings) -> TruthCalibration | None:
    """The calibration of a judge: a passage that entails a claim makes it true, and one that does not, not."""
    if settings.truth_map is None:
        return None
    fitted = settings.truth_map if isinstance(settings.truth_map, TruthMap) else None
    labelled = [
        JudgedPair(one.pair.hypothesis, one.pair.premise, one.label is RelationLabel.ENTAILMENT) for one in reference_pairs()
    ]
    return TruthCalibration(fitted, labelled, reference_name())


JUDGES = (
    JudgeMethod(
        "factscore",
        "FActScore: facts of each sentence; True or False by their passages, by the probability of the two words",
        prompts=("factscore",),
        extractor="decomposer",
        merging="sentence",
        cost="N + M",
        source="Min et al. 2023; FactReasoner, Table 33",
    ),
    JudgeMethod(
        "factverify",
        "FactVerify: weighs the passages one by one, then supported, contradicted or undecided",
        prompts=("factverify",),
        merging="none",
        cost="1 + 2M",
        source="Bayat et al. 2025; FactReasoner, Table 34",
    ),
    JudgeMethod(
        "veriscore",
        "VeriScore: claims of each sentence in its window; three ways by search results and how far their sites can be trusted",
        prompts=("veriscore",),
        extractor="windows",
        cost="N + M",
        source="Song et al. 2024; FactReasoner, Table 35",
    ),
    JudgeMethod(
        "deepseek",
        "the prompt that FactReasoner gave DeepSeek-v3: passages and the model's own knowledge, three ways",
        prompts=("deepseek",),
        merging="none",
        cost="1 + 2M",
        source="FactReasoner, Table 36",
    ),
    JudgeMethod(
        "safe",
        "SAFE: facts of each sentence, revised; up to five searches one by one for each that is relevant; supported or not",
        prompts=("safe",),
        extractor="safe",
        merging="sentence",
        k_searched=None,
        search_steps=5,
        cost="N + (3 + q)M",
        source="Wei et al. 2024; FastFact, Table 6",
        calls=("up to five a relevant claim to write queries", "one to rate it"),
    ),
    JudgeMethod(
        "factool",
        "FacTool: claims in one call, two written queries each; factual or not, with the error and its correction",
        prompts=("factool",),
        extractor="one-call",
        merging="none",
        k=5,
        k_searched=None,
        queries="llm",
        queries_per_claim=2,
        cost="1 + 2M",
        source="Chern et al. 2023",
    ),
    JudgeMethod(
        "expertqa",
        "ExpertQA's automatic estimate: facts of each sentence, five passages of pages each, True or False",
        prompts=("factscore",),
        extractor="decomposer",
        merging="sentence",
        k=5,
        k_searched=None,
        passages="chunks",
        cost="N + M",
        source="Malaviya et al. 2024",
    ),
)

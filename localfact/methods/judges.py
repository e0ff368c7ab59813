"""The methods that the papers compare with: a judge of each claim, with the extraction and evidence of its own paper.

With claims that come with a response (`--claims given`) they judge the same claims as FactReasoner, as in its tables.
"""

from dataclasses import dataclass

from localfact.assess.judges.assessor import PromptedJudge
from localfact.assess.judges.styles import STYLES
from localfact.llm.engine import Engine
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.settings import JudgeSettings, Settings
from localfact.prompts import Judge
from localfact.stages import Assessor


@dataclass(frozen=True)
class JudgeMethod(Method):
    """One call of the language model a claim, which decides it. `judge`: which one (`assess/judges/styles.py`)."""

    judge: Judge = "factscore"

    def assessment(self, options: Options, relations: str | None) -> JudgeSettings:
        """The judge, and the most tokens of its answer."""
        return JudgeSettings(judge=self.judge, verification_tokens=options.verification_tokens)

    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """The judge."""
        chosen = settings.assessment
        if engine is None or not isinstance(chosen, JudgeSettings):
            raise AssertionError("a judge is wired with a language model and with settings of its own")
        return PromptedJudge(engine, STYLES[chosen.judge], max_tokens=chosen.verification_tokens, seed=settings.seed)


def judge(name: Judge, description: str, *, extractor: str = "atomizer", k: int = 3, k_searched: int | None = 5) -> JudgeMethod:
    """A method of that name; k of Wikipedia and of the web are FactReasoner's (section 4)."""
    return JudgeMethod(
        name,
        description,
        passages="pages",
        k=k,
        k_searched=k_searched,
        merge_near_duplicates=False,
        model="required",
        extractor=extractor,
        prompts=(name,),
        calls=("one a claim for which a passage was found",),
        judge=name,
    )


JUDGES = (
    judge("factscore", "FActScore: True or False of each claim by its passages, by the probability of the two words"),
    judge("factverify", "FactVerify: weighs the passages one by one, then supported, contradicted or undecided"),
    judge("veriscore", "VeriScore: three ways, by search results and how far their sites can be trusted"),
    judge("deepseek", "the prompt that FactReasoner gave DeepSeek-v3: passages and the model's own knowledge, three ways"),
    judge("factool", "FacTool: factual or not, with the error and its correction", k=5),
)

"""Which equal claims become one: none in the papers' methods, those of a sentence in FActScore's, all in ours."""

import pytest

from localfact.claims.atomizer import Atomizer
from localfact.claims.decomposer import Decomposer
from localfact.claims.merging import Merging
from localfact.claims.reviser import RevisedClaims
from localfact.claims.rules.extractor import RuleExtractor
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.extraction import extraction_settings
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.records import Response

TEXT = "The mill is old. The mill is old."
TWICE = "[1] The mill is old.\n[2] the mill is old\n"

#: What the papers and their code do: FActScore's drops what a sentence stated already, and SAFE's uses it; VeriScore's drops
#: a claim that the response has already.
MERGING: dict[str, Merging] = {
    **dict.fromkeys(("factreasoner-fr1", "factreasoner-fr2", "factreasoner-fr3", "fastfact"), "none"),
    **dict.fromkeys(("factverify", "deepseek", "factool"), "none"),
    **dict.fromkeys(("factscore", "expertqa", "safe"), "sentence"),
    **dict.fromkeys(("veriscore", "localfact", "builtin-fr1", "builtin-fr2", "builtin-fr3"), "response"),
}


def test_each_method_merges_what_its_own_code_merges_unless_told() -> None:
    assert {name: method.merging for name, method in METHODS.items()} == MERGING
    settings = extraction_settings("rules", Options(), merging="none")
    assert settings.merging == "none"
    assert extraction_settings("rules", Options(merge_duplicates=True), merging="none").merging == "response"
    assert extraction_settings("rules", Options(merge_duplicates=False)).merging == "none"
    assert "merging" not in extraction_settings("rules", Options()).model_dump()  # no run of ours has another name


@pytest.mark.parametrize(("merging", "kept"), [("none", 4), ("sentence", 2), ("response", 1)])
async def test_equal_claims_are_kept_or_merged_and_counted(merging: Merging, kept: int) -> None:
    engine = ScriptedEngine(lambda chat: TWICE)
    extraction = await Decomposer(engine, merging=merging).extract(Response(id="r", text=TEXT))
    assert len({claim.id for claim in extraction.claims}) == kept
    assert extraction.counts["duplicates_merged"] == 4 - kept


@pytest.mark.parametrize(("merging", "kept"), [("none", 2), ("sentence", 2), ("response", 1)])
async def test_revised_claims_and_those_of_rules_are_kept_or_merged(merging: Merging, kept: int) -> None:
    response = Response(id="r", text=TEXT)
    assert len((await RuleExtractor(merging).extract(response)).claims) == kept
    engine = ScriptedEngine(
        lambda chat: "###The mill is old.###" if "Revised claim:" in chat[0].content else "[1] It is old.\n[2] The mill is old."
    )
    revised = RevisedClaims(Atomizer(engine, merging=merging), engine, merging=merging)
    assert len((await revised.extract(response)).claims) == kept

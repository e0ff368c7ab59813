"""No option is ignored in silence: in every method it changes the settings, or is refused by name."""

import warnings
from pathlib import Path

import pytest

from localfact.api.sample import sample_corpus, sample_recording
from localfact.claims.chunks import Stride
from localfact.errors import InputError, LocalFactError
from localfact.methods.extraction import extraction_settings
from localfact.methods.option_group import UnusedSetting, check_options, flags_of
from localfact.methods.options import Options
from localfact.methods.parts import USES
from localfact.methods.registry import METHODS
from localfact.methods.settings import Settings
from localfact.methods.uses import extractor_parts, keep_used, relation_parts
from localfact.methods.wiring import configure

#: Another value than the default of each option, or several, where one may be what a method does anyway.
VALUES: dict[str, tuple[object, ...]] = {
    "seed": (7,),
    "prior_map": (Path("none.json"),),
    "verdict_thresholds": (Path("none.json"),),
    "tables": ("priors", "paper"),
    "factors": ("soft",),
    "claim_relations": (True,),
    "coherence": (True,),
    "passage_prior": (0.6,),
    "hosts": ({"hearsay.example": 0.5},),
    "solver": ("bp",),
    "relations": ("lexical", "albert-vitaminc"),
    "second_opinion": ("lexical",),
    "calibrated": (True, False),
    "relation_map": (Path("none.json"),),
    "relations_cache": (Path("kept.sqlite"),),
    "providers": (("wikipedia",),),
    "searxng_url": ("http://127.0.0.1:9",),
    "allow_hosts": (("127.0.0.0/8",),),
    "host_delay": (3.0,),
    "corpus": (None,),
    "scope": ("query", "corpus"),
    "results": (9,),
    "evidence": ("snippet",),
    "block_hosts": (("hearsay.example",),),
    "only_hosts": (("hearsay.example",),),
    "before": ("2020",),
    "queries": ("llm", "claim"),
    "queries_per_claim": (2, 1),
    "k": (7,),
    "reranker": ("ms-marco-minilm",),
    "embedder": ("minilm",),
    "verification_tokens": (77,),
    "theta": (0.5,),
    "stride": (3,),
    "confidence": ("token", "distribution", "none"),
    "context_sentences": ("0,0",),
    "merge_duplicates": (True, False),
    "revise": ("given",),
    "prompts": (Path("none"),),
    "probability": ("raw",),
    "premise_titles": (True, False),
    "undecided_within": (0.2,),
    "extraction_tokens": (77,),
    "model": ("smollm2-135m",),
    "endpoint": ("http://127.0.0.1:9",),
    "engine_args": ({"dtype": "float32"},),
    "deterministic": (True,),
    "guided": (True, False),
    "min_mass": (0.4,),
    "transcript": (Path("calls.sqlite"),),
    "replay": (None, sample_recording()),
    "claims": ("extract",),
    "citations": (True,),
    "key_facts": (50,),
    "extractor": ("small-lm", "rules"),
}
#: What is used and decides no results: it is in no settings.
DECIDES_NOTHING = {"relations_cache"}


def options_of(method: str, **more: object) -> Options:
    """What a method runs with over the sample, without vectors; a recording where it asks a language model."""
    asked = {} if METHODS[method].model == "none" else {"replay": sample_recording()}
    return Options(**{"embedder": "none", "corpus": sample_corpus(), **asked, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def plain() -> dict[str, Settings]:
    return {method: configure(method, options_of(method)).settings for method in METHODS}


@pytest.mark.parametrize("option", Options.model_fields)
def test_an_option_changes_a_method_or_is_refused(option: str, plain: dict[str, Settings]) -> None:
    assert option in USES, f"{option} is new: say in parts.py what reads it, and give another value of it here"
    for method in METHODS:
        said = []
        for value in VALUES[option]:
            try:
                chosen = configure(method, options_of(method, **{option: value}))
            except LocalFactError as error:
                said.append(str(error))
            else:
                if chosen.settings != plain[method] or option in DECIDES_NOTHING:
                    said.append("it changes the settings")
        assert said, f"{option} is ignored by {method}"


def test_a_refusal_names_the_methods_that_use_the_option() -> None:
    with pytest.raises(InputError) as refused:
        configure("builtin-fr2", options_of("builtin-fr2", theta=0.5))
    assert "--theta would change nothing in the method builtin-fr2" in str(refused.value)
    assert "Methods that use it: fastfact, localfact." in str(refused.value)
    with pytest.raises(InputError, match=r"--free-format and --transcript .*Name one with --model or --endpoint"):
        configure("builtin-fr2", options_of("builtin-fr2", guided=False, transcript=Path("calls.sqlite")))
    with pytest.raises(InputError, match=r"--model would change nothing .* no language model is asked"):
        configure(
            "factreasoner-fr2", options_of("factreasoner-fr2", relations="lexical", extractor="rules", model="x", replay=None)
        )


def test_a_setting_of_a_file_that_a_method_does_not_use_is_left_out_and_told() -> None:
    given = check_options(Options, {"theta": 0.5, "k": 2}, of_file=["theta"])
    with pytest.warns(UnusedSetting, match=r"The setting theta changes nothing .* fastfact, localfact"):
        kept = keep_used(given, (), "the method builtin-fr2")
    assert (kept.theta, kept.k) == (None, 2)


@pytest.mark.parametrize(
    ("extractor", "stride", "told"),
    [("chunked", "max", True), ("chunked", 2, False), ("atomizer", "max", True), ("windows", "max", False)],
)
def test_sentences_around_a_chunk_that_is_the_whole_response_are_told_to_change_nothing(
    extractor: str, stride: Stride, told: bool
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        extraction_settings(extractor, Options(model="any", context_sentences="0,0", stride=stride))
    assert [one.category for one in caught] == [UnusedSetting] * told


def test_a_command_that_does_one_stage_refuses_what_another_stage_reads() -> None:
    with pytest.raises(InputError, match="--model would change nothing in relate"):
        keep_used(Options(model="any"), relation_parts(["albert-vitaminc"]), "relate")
    with pytest.raises(InputError, match="--relations lexical"):
        keep_used(Options(embedder="none"), relation_parts(["albert-vitaminc"]), "relate")
    with pytest.raises(InputError, match="Extractors that use it: chunked"):
        keep_used(Options(stride=3), extractor_parts("rules"), "the extractor rules")
    kept = Options(model="any", relations="llm", embedder="none")
    assert keep_used(kept, relation_parts(["llm", "lexical"]), "a plot") == kept


def test_every_flag_of_an_option_is_named_once() -> None:
    names = [flag for name in Options.model_fields for flag in flags_of(Options, name)]
    assert len(names) == len(set(names))

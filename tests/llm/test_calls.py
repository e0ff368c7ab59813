from dataclasses import fields, replace
from typing import Any

import pytest
from counting_engine import IDENTITY
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.llm.calls import ChooseCall, CountCall, GenerateCall, require_labels
from localfact.llm.engine import Choice, EngineIdentity, Generation, Message
from localfact.runtime.usage import Usage

TEXTS = st.sampled_from(["", "a", "ab", "\x00", "\ud83d", "\ud83d\ude00", "😀", "é", "e\u0301", '"', "\\"])
MESSAGES = st.builds(Message, st.sampled_from(["system", "user"]), TEXTS, st.sampled_from(["", "g"]))
CHATS = st.lists(MESSAGES, max_size=2).map(tuple)
COMMIT, HASH = "0123456789abcdef" * 2 + "01234567", "sha256:" + "0123456789abcdef" * 4
#: The last three stand for the files themselves, whatever the model is called.
REVISIONS = ["1", "2", "sha256:1", COMMIT, HASH, f'{HASH}+load_format="dummy"']
IDENTITIES = st.builds(
    EngineIdentity,
    model=st.sampled_from(["m", "n"]),
    revision=st.sampled_from(REVISIONS),
    dtype=st.sampled_from(["float32", "bfloat16"]),
    quantisation=st.sampled_from([None, "fp8"]),
    template=st.sampled_from(["plain", "t"]),
    window=st.integers(1, 3),
)
COUNTS = st.builds(CountCall, CHATS, TEXTS, TEXTS)
GENERATES = st.builds(
    GenerateCall,
    CHATS,
    TEXTS,
    st.integers(1, 2),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.sampled_from([0, 0.0, -0.0, 0.5, 1, 1.0]),
    st.integers(0, 2),
)
CHOOSES = st.builds(ChooseCall, CHATS, TEXTS, st.permutations(["a", "b"]) | st.permutations(["a", "c"]), TEXTS)


@st.composite
def two_calls(draw: st.DrawFn) -> tuple[Any, Any]:
    """Any two, or two of a kind that share some fields, or all."""
    if draw(st.integers(0, 4)) == 0:
        anything = st.one_of(COUNTS, GENERATES, CHOOSES)
        return draw(anything), draw(anything)
    kind = draw(st.sampled_from([COUNTS, GENERATES, CHOOSES]))
    one, other = draw(kind), draw(kind)
    changed = draw(st.sets(st.sampled_from([field.name for field in fields(one)]), max_size=2))
    return one, replace(one, **{name: getattr(other, name) for name in changed})


def what_decides(call: Any, identity: EngineIdentity) -> tuple[Any, ...]:
    """All that may decide an answer, written down once more and by itself; a message's group does not."""
    name = "" if identity.revision in REVISIONS[3:] else identity.model
    said = tuple((message.role, message.content) for message in call.chat)
    common = (call.kind, identity.model_copy(update={"window": 1, "model": name}), said)
    if isinstance(call, CountCall):
        return (*common, call.prefix)
    if isinstance(call, GenerateCall):
        return (*common, call.max_tokens, call.stop, call.temperature, call.seed if call.temperature else None)
    return (*common, frozenset(call.labels), call.prefix)


@pytest.mark.slow
@given(two_calls(), IDENTITIES, IDENTITIES, st.booleans())
def test_keys_are_equal_if_and_only_if_everything_that_decides_the_answer_is(
    calls: tuple[Any, Any], identity: EngineIdentity, other_identity: EngineIdentity, same_engine: bool
) -> None:
    call, other = calls
    if same_engine:
        other_identity = identity.model_copy(update={"window": other_identity.window})
    keys, other_keys = call.keys(identity), other.keys(other_identity)
    same = what_decides(call, identity) == what_decides(other, other_identity)
    assert (keys.whole == other_keys.whole) == same
    assert (keys.windowed == other_keys.windowed) == (same and identity.window == other_identity.window)
    assert keys.whole != keys.windowed


CALL = GenerateCall((Message("system", "s"), Message("user", "u")), "stage", 10, ("x", "y"), 0.5, 1)


@pytest.mark.parametrize(
    "changed",
    [
        GenerateCall((Message("user", "s"), Message("user", "u")), "stage", 10, ("x", "y"), 0.5, 1),
        GenerateCall((Message("system", "su"), Message("user", "")), "stage", 10, ("x", "y"), 0.5, 1),
        GenerateCall(CALL.chat, "stage", 11, ("x", "y"), 0.5, 1),
        GenerateCall(CALL.chat, "stage", 10, ("xy",), 0.5, 1),
        GenerateCall(CALL.chat, "stage", 10, ("x", "y"), 0.6, 1),
        GenerateCall(CALL.chat, "stage", 10, ("x", "y"), 0.5, 2),
        ChooseCall(CALL.chat, "stage", ("x", "y"), ""),
        CountCall(CALL.chat, "stage", ""),
    ],
)
def test_another_prompt_or_sampling_is_another_key(changed: Any) -> None:
    assert changed.keys(IDENTITY).whole != CALL.keys(IDENTITY).whole


@pytest.mark.parametrize("field", ["model", "revision", "dtype", "quantisation", "template"])
def test_another_engine_is_another_key(field: str) -> None:
    assert CALL.keys(IDENTITY.model_copy(update={field: "other"})).whole != CALL.keys(IDENTITY).whole


@pytest.mark.parametrize("revision", REVISIONS[3:])
def test_the_name_is_in_the_key_unless_the_revision_stands_for_the_files(revision: str) -> None:
    known = IDENTITY.model_copy(update={"revision": revision})
    assert CALL.keys(known) == CALL.keys(known.model_copy(update={"model": "another name"}))
    assert CALL.keys(known) != CALL.keys(known.model_copy(update={"revision": f"{revision}+x=1"}))
    stated = IDENTITY.model_copy(update={"revision": revision.replace("0123", "v123", 1)})
    assert CALL.keys(stated) != CALL.keys(stated.model_copy(update={"model": "another name"}))


def test_neither_the_stage_nor_the_window_is_in_the_key_nor_the_seed_at_temperature_zero() -> None:
    greedy = GenerateCall(CALL.chat, "stage", 10, (), 0.0, 1)
    same = GenerateCall(CALL.chat, "another", 10, (), 0, 2)
    assert greedy.keys(IDENTITY).whole == same.keys(IDENTITY.model_copy(update={"window": 9})).whole


def test_the_key_of_a_call_stays_the_same_from_version_to_version() -> None:
    assert CALL.keys(IDENTITY).whole == "303a87b480036eeeee128498739cb4dcc117af7fadb4546e9f4a0df745b9e08a"


@given(
    st.dictionaries(st.text(min_size=1), st.floats(max_value=-2.1), min_size=1, max_size=8),
    st.floats(min_value=0, allow_infinity=False),
)
def test_every_float_of_an_answer_comes_back_with_the_same_bits(log_probs: dict[str, float], seconds: float) -> None:
    choice = Choice(log_probs=log_probs, usage=Usage(prompt_tokens=7, cached_tokens=3, seconds=seconds))
    call = ChooseCall((), "s", tuple(log_probs), "")
    text, windowed = call.encode(choice)
    read = call.decode(text)
    assert not windowed
    assert read == choice
    assert list(map(repr, read.log_probs.items())) == list(map(repr, log_probs.items()))
    assert repr(read.usage.seconds) == repr(seconds)


def test_an_answer_that_the_window_cut_short_holds_for_that_window_only() -> None:
    cut = Generation(text="a", finish="length", usage=Usage(output_tokens=9))
    full = Generation(text="a", finish="length", usage=Usage(output_tokens=10))
    ended = Generation(text="a", finish="stop", usage=Usage(output_tokens=9))
    assert [CALL.encode(answer)[1] for answer in (cut, full, ended)] == [True, False, False]


def test_an_answer_that_is_surer_than_a_model_can_be_is_none() -> None:
    sure = Choice(log_probs={"yes": 0.0, "no": -1.0})
    text, _ = ChooseCall((), "s", ("yes", "no"), "").encode(sure)
    with pytest.raises(ValueError, match="more probable than 1"):
        ChooseCall((), "s", ("yes", "no"), "").decode(text)


@pytest.mark.parametrize("labels", [[], [""], ["yes", ""], ["yes", "no", "yes"]])
def test_no_label_an_empty_one_or_one_twice_is_refused(labels: list[str]) -> None:
    with pytest.raises(InputError):
        require_labels(labels)

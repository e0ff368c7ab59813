"""What a server repeats of a secret is found, however it is spelled, and a short secret stops no text."""

import pytest

from localfact.runtime.hiding import hide, repeats

SECRET = "s3cret-tok_en.Value"


@pytest.mark.parametrize(
    "spelled",
    [SECRET, SECRET.upper(), "\n".join(SECRET), "\u200b".join(SECRET), SECRET.replace("-", "\\-"), SECRET.replace(".", " . ")],
)
def test_another_spelling_of_a_secret_is_found_and_nothing_of_it_is_shown(spelled: str) -> None:
    assert repeats(f"it is {spelled}.", SECRET)
    assert not repeats(hide(f"it is {spelled}.", SECRET, "[key]"), SECRET)


def test_a_message_keeps_what_stands_beside_a_secret_that_is_repeated_as_it_is() -> None:
    assert hide(f"you sent {SECRET}!", SECRET, "[key]") == "you sent [key]!"


def test_a_short_secret_is_only_looked_for_as_it_is_and_none_is_in_no_text() -> None:
    assert repeats("EMPTY", "EMPTY")
    assert not repeats("an empty page", "EMPTY")
    assert not repeats("text", "")
    assert hide("text", "", "[key]") == "text"

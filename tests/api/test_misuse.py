"""What a user gets wrong on the first day is answered by one sentence of what to do, never by a library's own error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localfact
from localfact import LocalFactError, Options

TEXT = "Lena Orbe was born in Turku."
anything: Any = localfact  # the functions, called with what their types forbid

MISUSES: dict[str, tuple[Callable[[], Any], str]] = {
    "an option out of range": (lambda: anything.Options(k=0), "k cannot be 0"),
    "an option of another type": (lambda: anything.Options(theta="high"), "theta cannot be 'high'"),
    "an unknown option": (lambda: anything.Options(corpse="index/mine"), "Did you mean 'corpus'"),
    "an argument for an option": (lambda: anything.Options(method="fastfact"), "method is no option"),
    "a text for a list": (lambda: anything.Options(providers="duckduckgo"), "takes a list of texts"),
    "an empty option": (lambda: anything.Options(corpus=""), "corpus is an empty text"),
    "no text": (lambda: anything.check(None), "check takes one text"),
    "an empty text": (lambda: anything.check(" \n"), "There is no text to judge"),
    "a byte order mark alone": (lambda: anything.check("\ufeff"), "There is no text to judge"),
    "several texts": (lambda: anything.check([TEXT]), "localfact.evaluate takes many"),
    "a path for a text": (lambda: anything.check(Path("answer.txt")), "read_text"),
    "a file's name for a text": (lambda: anything.check(__file__), "read_text"),
    "a topic that is no text": (lambda: anything.check(TEXT, topic=3), "topic takes a text"),
    "a mapping for options": (lambda: anything.check(TEXT, options={"k": 3}), "localfact.Options(k=3)"),
    "a method that is no text": (lambda: anything.check(TEXT, method=2), "A method is named by a text"),
    "an unknown method": (lambda: anything.check(TEXT, method="fastfct"), "Did you mean 'fastfact'"),
    "a negative number": (lambda: anything.check(TEXT, max_words=-1), "max_words takes a whole number"),
    "a switch for progress": (lambda: anything.check(TEXT, progress=True), "progress takes an object"),
    "a folder that is no corpus": (lambda: anything.check(TEXT, options=Options(corpus=Path(__file__).parent)), "no corpus in"),
    "a text for data": (lambda: anything.evaluate(TEXT), "evaluate([text])"),
    "a number for data": (lambda: anything.evaluate(3), "data takes a file"),
    "an empty name": (lambda: anything.evaluate(""), "data is an empty text"),
    "a list of nothing": (lambda: anything.evaluate([None]), "in this list is None"),
    "a limit of none": (lambda: anything.evaluate(limit=0), "limit takes a whole number"),
    "a run that is none": (lambda: anything.claim_rows(None), "claim_rows takes a run folder"),
    "no graph": (lambda: anything.infer([]), "infer takes the paths"),
    "pairs for rows": (lambda: anything.relate([("a", "b")]), "relate takes a list of mappings"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_answered_with_what_to_do(misuse: str) -> None:
    do, said = MISUSES[misuse]
    with pytest.raises(LocalFactError) as caught:
        do()
    assert said in str(caught.value)

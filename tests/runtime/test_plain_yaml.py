import datetime
from unittest.mock import patch

import pytest
import yaml

from localfact.runtime.plain_yaml import read_yaml

ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


def test_plain_values_are_read() -> None:
    assert read_yaml("a: [1, 2.5, yes]\nb: {c: null}\n") == {"a": [1, 2.5, True], "b": {"c": None}}
    assert read_yaml(b"") is None
    assert read_yaml("a: &x [1]\nb: *x\n") == {"a": [1], "b": [1]}


WRONG: dict[str, tuple[str | bytes, str]] = {
    "open": ("a: [", "flow node"),
    "deep": ("[" * 250_000, "more than 100 levels"),  # libyaml alone would crash
    "date": ("a: 2026-99-99", "month"),
    "digits": (f"a: {'9' * 5_000}", "digits"),
    "bytes": (b"a: \xff", "invalid leading"),
    "object": ("a: !!python/object:os.system {}", "constructor"),
    "tag of a truth": ("a: !!bool abc", "KeyError"),
    "tag of a time": ("a: !!timestamp abc", "AttributeError"),
    "tag of a number": ("a: !!int ''", "IndexError"),
    "merge": ("a: &a {x: 1}\nb: {<<: *a}", "merge key"),
    "aliases": (ALIASES, "more than 1,000,000 values"),
    "itself": ("&a [*a]", "contains itself"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG)
def test_whatever_is_wrong_is_one_error(text: str | bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_yaml(text)


def test_dates_are_dates_whatever_another_library_makes_of_them() -> None:
    made = yaml.SafeLoader.yaml_constructors
    with patch.dict(made, {"tag:yaml.org,2002:timestamp": made["tag:yaml.org,2002:str"]}):
        assert read_yaml("a: 2026-01-02") == {"a": datetime.date(2026, 1, 2)}

"""Some of the attempts of `make fuzz`, with a fixed seed; and that what would get through is found."""

from pathlib import Path

import pytest

from localfact.prompts.boundary import Boundary
from localfact.web.fetching.addresses import Addresses
from scripts import attempts
from scripts.attempts import COUNTS, KINDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("addresses", 1.0),
        ("answers", 0.05),
        ("texts", 0.01),
        ("kills", 0.08),
        ("servers", 0.3),
        ("cards", 0.05),
        ("endpoints", 0.1),
        ("settings", 0.05),
    ],
)
def test_none_of_some_attempts_gets_through(kind: str, share: float, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        attempts.main(["--only", kind, "--share", str(share), "--seed", "19"])
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    assert f"{kind}: {round(COUNTS[kind] * share):,} attempts, 0 got through" in printed.out


@pytest.mark.pages
def test_no_bomb_of_some_gets_through(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        attempts.main(["--only", "bombs", "--share", "0.1", "--seed", "19"])
    assert ended.value.code == 0, capsys.readouterr().err


def test_an_address_that_is_let_in_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Addresses, "_is_allowed", lambda self, host, port, address: True)
    assert any("leads to" in (end or "") for end in KINDS["addresses"](100, 0, tmp_path))


@pytest.mark.slow
def test_a_text_that_is_not_broken_up_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unbroken(self: Boundary, kind: str, text: str, title: str = "") -> str:
        return f"<<{kind} 00000000>>\n{text}\n<<end {kind} 00000000>>"

    monkeypatch.setattr(Boundary, "enclose", unbroken)
    found = " ".join(end or "" for end in KINDS["texts"](2_000, 0, tmp_path))
    assert all(what in found for what in ("a marker", "a turn", "a decision", "a label", "a judge's label"))

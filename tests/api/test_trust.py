"""`trust`: hosts that disagree with what the rest bears out sink, the report says why, and `eval --hosts` reads the table."""

import json
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from localfact.api.compare import compare_runs
from localfact.api.evaluate import evaluate
from localfact.api.trust import table_of_hosts, trust
from localfact.cli.main import app
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.report.trust import HostTrust, TrustReport
from localfact.report.trust_view import trust_view
from localfact.runs.assessments import read_assessments

TOWNS = 12
OPTIONS = Options(relations="lexical", embedder="none", claims="given")


def row(place: int) -> dict[str, object]:
    """A town: two hosts tell when it was founded, a third one tells another year on two pages, a fourth another thing."""
    founded = f"Town {place} was founded in 1850."
    pages = {
        "https://www.atlas.example/t": f"An atlas of the valley. Town {place} was founded in 1850 by millers.",
        "https://annals.example/t": f"From the annals: the town council met. Town {place} was founded in 1850.",
        "https://rumour.example/a": f"Rumour has it so. Town {place} was founded in 1731.",
        "https://rumour.example/b": f"People like to say what they heard. Town {place} was founded in 1731, they say.",
        "https://lone.example/t": f"Town {place} lies on the river Amber.",
    }
    passages = [{"id": link, "title": f"Town {place}", "text": text, "link": link} for link, text in pages.items()]
    claims = [founded, f"Town {place} was founded in 1731.", f"Town {place} lies on the river Amber."]
    return {
        "id": str(place),
        "prompt": "What of the towns?",
        "response": " ".join(claims),
        "claims": [
            {"text": text, "label": label, "passages": [*pages]} for text, label in zip(claims, ("S", "NS", "S"), strict=True)
        ],
        "passages": passages,
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trusted")
    (folder / "towns.jsonl").write_text("".join(json.dumps(row(place)) + "\n" for place in range(TOWNS)), encoding="utf-8")
    evaluate(folder / "towns.jsonl", out=folder / "run", method="builtin-fr2", options=OPTIONS)
    return folder / "run"


@pytest.fixture(scope="module")
def found(run: Path) -> TrustReport:
    return trust([run])


@pytest.mark.slow
def test_a_host_that_disagrees_with_the_rest_sinks_and_the_others_do_not(found: TrustReport) -> None:
    hosts = {one.host: one for one in found.hosts}
    assert found.hosts[0].host == "rumour.example"
    assert hosts["rumour.example"].after < 0.5
    assert min(hosts[name].after for name in ("atlas.example", "annals.example")) > 0.9
    assert hosts["lone.example"].after == pytest.approx(0.99, abs=0.02)
    assert list(found.table) == ["rumour.example"]


def test_the_report_says_which_claims_and_who_tells_otherwise(found: TrustReport) -> None:
    worst = found.hosts[0]
    assert (worst.passages, worst.responses) == (2 * TOWNS, TOWNS)
    assert worst.before == pytest.approx(0.99)
    assert worst.against == 2 * TOWNS
    assert {*worst.why[0].others} == {"annals.example", "atlas.example"}
    assert worst.claims == worst.borne_out + worst.against + worst.open


def test_a_run_given_twice_counts_once(run: Path, found: TrustReport) -> None:
    twice = trust([run, run])
    assert (twice.repeated, twice.table) == (TOWNS, found.table)


@pytest.mark.slow
def test_the_table_is_written_read_by_eval_and_compared(run: Path, tmp_path: Path) -> None:
    table, page = tmp_path / "hosts.yaml", tmp_path / "trust.html"
    told = CliRunner().invoke(app, ["trust", str(run), "--out", str(table), "--html", str(page)])
    assert told.exit_code == 0, told.output
    assert "rumour.example fell to" in " ".join(told.output.split())
    assert yaml.safe_load(table.read_text(encoding="utf-8"))["rumour.example"] < 0.5
    assert "rumour.example" in page.read_text(encoding="utf-8")

    options = Options(**{**dict(OPTIONS), "hosts": str(table)})
    evaluate(run.parent / "towns.jsonl", out=tmp_path / "run", method="builtin-fr2", options=options)
    posteriors = [[one.verdicts[0].posterior or 0.0 for one in read_assessments(folder)] for folder in (run, tmp_path / "run")]
    assert min(posteriors[1]) > max(posteriors[0])
    assert compare_runs([run, tmp_path / "run"]).claims_shared == 3 * TOWNS


@pytest.mark.parametrize(("against", "said"), [(0, "all of them agree"), (2, "often enough (2 claims in all)")])
def test_where_no_host_fell_it_is_told_whether_some_are_against_the_rest(against: int, said: str) -> None:
    host = HostTrust(
        host="a.example", before=0.99, after=0.99, passages=9, responses=9, claims=9, borne_out=7, against=against, open=0
    )
    console = Console(width=200, record=True)
    report = TrustReport(
        runs=("a",), responses=9, repeated=0, hosts=(host,), table={}, unknown=0, strength=10.0, rounds=1, change=0.0
    )
    console.print(trust_view(report))
    assert said in console.export_text()


def test_json_has_everything(run: Path, found: TrustReport) -> None:
    told = CliRunner().invoke(app, ["trust", str(run), "--json"])
    assert TrustReport.model_validate_json(told.stdout) == found


def test_a_prior_that_cannot_tell_liars_from_others_is_refused(run: Path) -> None:
    with pytest.raises(InputError, match="above one half"):
        trust([run], prior=0.5)
    with pytest.raises(InputError, match="strength"):
        trust([run], strength=0)


def test_a_host_below_one_that_fell_keeps_its_own_place_in_the_table() -> None:
    hosts = [
        HostTrust(host=host, before=0.99, after=after, passages=1, responses=1, claims=1, borne_out=0, against=0, open=1)
        for host, after in (("lies.example", 0.2), ("good.lies.example", 0.99), ("other.example", 0.99))
    ]
    assert table_of_hosts(hosts, {"old.example": 0.3}) == {"good.lies.example": 0.99, "lies.example": 0.2, "old.example": 0.3}

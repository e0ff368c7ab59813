"""The annotators' pages as a browser without a script has them, and what nobody gets past."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from annotation_projects import make_project
from starlette.testclient import TestClient

from localfact.annotation.labels import Label
from localfact.annotation.project import Project, create
from localfact.annotation.safety import LONGEST_BODY, AccessControl
from localfact.annotation.server import application
from localfact.annotation.steps import LONGEST_TEXT, Step, StepKind
from localfact.annotation.store import ADJUDICATE
from localfact.annotation.tasks import AnnotationTask, MachineClaim

HERE = "http://127.0.0.1:8737"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    folder = tmp_path / "project"
    make_project(folder, overlap=1.0)
    with Project(folder) as opened:
        yield opened


def served(project: Project, *, host: str = "127.0.0.1", token: str = "", blind: bool = False, at: str = HERE) -> TestClient:
    app = application(project, AccessControl(host, token, str(project.store.facts()["secret"])), blind=blind)
    return TestClient(app, base_url=at, headers={"origin": at}, follow_redirects=True)


def signed_in(project: Project, name: str = "ada", **how: object) -> TestClient:
    client = served(project, **how)
    assert client.post("/sign-in", data={"name": name}).status_code == 200
    return client


def hidden(page: str, kind: str = "") -> dict[str, str]:
    """The hidden fields of the first form of a page that makes such a step."""
    for form in re.findall(r"<form.*?</form>", page, re.DOTALL):
        fields = {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)}
        if "form_token" in fields and fields.get("kind", "") == kind:
            return fields
    raise AssertionError(f"no form that makes {kind!r}")


def test_somebody_signs_in_takes_the_next_response_and_judges_its_claims_until_it_is_finished(project: Project) -> None:
    client = signed_in(project)
    page = client.get("/next").text
    assert "are these its claims?" in page
    task = project.store.task(1)
    assert task is not None
    for number, claim in enumerate(task.claims, start=1):
        page = client.get("/responses/1/judge").text
        assert f"Claim {number}" in page
        page = client.post("/responses/1/judge", data=hidden(page, "judge") | {"label": "refuted", "agreed": ""}).text
        assert project.store.work(1, "ada").claim(claim.id).label == "refuted"
    assert "Every claim has its label" in page
    answer = client.post("/responses/1/judge", data=hidden(page, "finish"))
    assert str(answer.url).endswith("/responses/2/claims")
    assert project.store.work(1, "ada").finished
    assert "1 of 6 annotations of 3 responses are finished" in client.get("/").text


def test_htmx_is_given_the_part_that_changed(project: Project) -> None:
    client = signed_in(project)
    page = client.get("/responses/1/judge").text
    sent = hidden(page, "judge") | {"label": "supported", "agreed": ""}
    fragment = client.post("/responses/1/judge", data=sent, headers={"hx-request": "true"})
    assert fragment.text.lstrip().startswith("<main")
    assert "Saved: judge claim 1: supported." in fragment.text


def test_claims_are_revised_removed_restored_added_placed_and_commented(project: Project) -> None:
    client = signed_in(project)
    task = project.store.task(1)
    assert task is not None
    first = task.claims[0].id
    words = task.text.split(".")[0]
    for kind, fields in (
        ("revise", {"text": "The mill of Orvale opened.\r\nIt is a mill.", "kind": "split"}),
        ("comment", {"text": "see the guide"}),
        ("place", {"quote": words}),
        ("remove", {"removal": "redundant"}),
        ("restore", {}),
        ("add", {"text": "An added claim stands here.", "quote": words}),
    ):
        page = client.get("/responses/1/claims", params={"claim": first}).text
        sent = hidden(page, kind)
        client.post("/responses/1/claims", data=sent | fields)
    work = project.store.work(1, "ada")
    claim = work.claim(first)
    assert claim is not None
    assert (claim.text, claim.edit, claim.comment, claim.removal) == (
        "The mill of Orvale opened.",
        "revised",
        "see the guide",
        None,
    )
    assert [(span.start, span.end) for span in claim.spans] == [(0, len(words))]
    added = ["It is a mill.", "An added claim stands here."]
    assert [one.text for one in work.claims if one.edit == "added"] == added
    assert "opened in 1911. So the chronicle says." in client.get("/responses/1/judge", params={"claim": f"{first}/2"}).text


def test_a_tab_that_is_behind_gets_409_with_what_was_done_since_and_can_do_its_step_after_it(project: Project) -> None:
    client = signed_in(project)
    stale = client.get("/responses/1/judge").text
    fresh = client.get("/responses/1/judge").text
    client.post("/responses/1/judge", data=hidden(fresh, "judge") | {"label": "supported", "agreed": ""})
    behind = client.post("/responses/1/judge", data=hidden(stale, "judge") | {"label": "refuted", "agreed": ""})
    assert behind.status_code == 409
    assert "judge claim 1: supported" in behind.text
    assert "judge claim 1: refuted" in behind.text
    first = project.store.work(1, "ada").claims[0]
    assert first.label == "supported"
    client.post("/responses/1/judge", data=hidden(behind.text, "judge"))
    assert project.store.work(1, "ada").claims[0].label == "refuted"


def test_a_form_that_is_sent_twice_is_one_step(project: Project) -> None:
    client = signed_in(project)
    sent = hidden(client.get("/responses/1/judge").text, "judge") | {"label": "supported", "agreed": ""}
    assert [client.post("/responses/1/judge", data=sent).status_code for _ in range(2)] == [200, 200]
    assert project.store.work(1, "ada").version == 1


def test_who_looks_blindly_sees_nothing_of_what_the_machine_found(project: Project) -> None:
    seen, blind = (signed_in(project, name, blind=name == "bo").get("/responses/1/judge").text for name in ("ada", "bo"))
    assert "The machine says" in seen
    assert "Agree" in seen
    assert "speaks for it" in seen
    assert seen.index("So the chronicle says.") < seen.index('class="choices"') < seen.index("The machine says")
    for word in ("The machine says", "Agree", "speaks for it", "speaks against it"):
        assert word not in blind


def test_passages_of_other_claims_can_be_unfolded(project: Project) -> None:
    page = signed_in(project).get("/responses/1/judge").text
    own, _, others = page.partition("3 more that were found for other claims of the response")
    assert "opened in 1911. So the chronicle says." in own
    assert "burned down in 1934. So the chronicle says." in others
    assert "opened in 1911. So the chronicle says." not in others


def test_two_who_differ_are_shown_side_by_side_and_a_third_decides(project: Project) -> None:
    for name, label in (("ada", "supported"), ("bo", "refuted")):
        client = signed_in(project, name)
        for claim in project.store.work(1, name).claims:
            page = client.get("/responses/1/judge", params={"claim": claim.id}).text
            chosen = label if claim.id == "c1" else "irrelevant"
            client.post("/responses/1/judge", data=hidden(page, "judge") | {"label": chosen, "agreed": ""})
        client.post("/responses/1/judge", data=hidden(client.get("/responses/1/judge").text, "finish"))
    client = signed_in(project, "cy")
    assert "ada, bo" in client.get("/adjudicate").text
    page = client.get("/adjudicate/1").text
    assert "differ on 1." in page
    client.post("/adjudicate/1", data=hidden(page, "decide") | {"label": "refuted", "removal": "", "text": ""})
    page = client.get("/adjudicate/1").text
    assert "Everything is decided" in page
    client.post("/adjudicate/1", data=hidden(page, "finish"))
    assert project.store.adjudicators(1) == ["cy"]
    assert project.store.work(1, "cy", ADJUDICATE).claims[0].label == "refuted"


def test_only_named_adjudicators_adjudicate(project: Project) -> None:
    project.store.set_fact("adjudicators", ["cy"])
    assert "Adjudicate" in signed_in(project, "cy").get("/").text
    ada = signed_in(project, "ada")
    assert "Adjudicate" not in ada.get("/").text
    assert ada.get("/adjudicate").status_code == 403


def test_a_response_that_enough_people_have_is_nobody_elses(project: Project) -> None:
    for name in ("ada", "bo"):
        signed_in(project, name).get("/responses/1/claims")
    assert signed_in(project, "cy").get("/responses/1/claims").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "10.0.0.7:8737"])
def test_another_host_is_not_answered(project: Project, host: str) -> None:
    answer = served(project).get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "Who annotates" not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:8737", None])
def test_a_form_of_another_page_changes_nothing(project: Project, origin: str | None) -> None:
    client = signed_in(project)
    sent = hidden(client.get("/responses/1/judge").text, "judge") | {"label": "supported", "agreed": ""}
    if origin is None:
        del client.headers["origin"]
    answer = client.post("/responses/1/judge", data=sent, headers={} if origin is None else {"origin": origin})
    assert answer.status_code == 403
    assert project.store.work(1, "ada").version == 0


def test_a_form_without_its_token_or_with_somebody_elses_changes_nothing(project: Project) -> None:
    client = signed_in(project)
    sent = hidden(client.get("/responses/1/judge").text, "judge") | {"label": "supported", "agreed": ""}
    access = AccessControl("127.0.0.1", "", str(project.store.facts()["secret"]))
    for token in ("", "0" * 64, access.form_token("bo")):
        assert client.post("/responses/1/judge", data=sent | {"form_token": token}).status_code == 403
    assert project.store.work(1, "ada").version == 0


def test_a_made_up_cookie_is_nobody(project: Project) -> None:
    client = served(project)
    _, name = AccessControl("127.0.0.1", "", str(project.store.facts()["secret"])).cookies
    client.cookies.set(name, f"{b'ada'.hex()}.{'0' * 64}")
    assert "Who annotates" in client.get("/responses/1/judge").text


def test_a_server_that_others_reach_asks_for_the_token_that_its_link_has(project: Project) -> None:
    there = "http://192.168.7.9:8737"
    client = served(project, host="0.0.0.0", token="s3cret", at=there)
    assert client.get("/").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    assert client.post("/sign-in", data={"name": "ada"}).status_code == 401
    answer = client.get("/?token=s3cret")
    assert str(answer.url) == f"{there}/"
    assert "Who annotates" in answer.text
    assert client.post("/sign-in", data={"name": "ada"}).status_code == 200


def test_a_link_with_a_token_leads_nowhere_else(project: Project) -> None:
    client = served(project, host="0.0.0.0", token="s3cret")
    client.follow_redirects = False
    answer = client.get("http://127.0.0.1:8737//evil.example/?token=s3cret")
    assert answer.headers["location"] == "/evil.example/"


@pytest.mark.parametrize("name", ["..%2f..%2fpyproject.toml", "../server.py", "%2e%2e/store.py", "etc/passwd", "//etc/passwd"])
def test_no_path_leads_to_a_file(project: Project, name: str) -> None:
    assert signed_in(project).get(f"/static/{name}").status_code == 404


def test_what_is_too_long_is_refused(project: Project) -> None:
    client = signed_in(project)
    sent = hidden(client.get("/responses/1/claims").text, "comment")
    assert client.post("/responses/1/claims", data=sent | {"text": "x" * LONGEST_BODY}).status_code == 413
    assert "Not done" in client.post("/responses/1/claims", data=sent | {"text": "x" * (LONGEST_TEXT + 1)}).text
    assert project.store.work(1, "ada").version == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"version": "-1"},
        {"version": "1" * 40},
        {"key": ""},
        {"kind": "drop"},
        {"kind": "decide"},
        {"claim": "nobody"},
        {"label": "true"},
        {"start": "9" * 9, "end": "9"},
    ],
)
def test_a_form_that_no_page_has_changes_nothing(project: Project, fields: dict[str, str]) -> None:
    client = signed_in(project)
    sent = hidden(client.get("/responses/1/judge").text, "judge") | {"label": "supported", "agreed": ""}
    assert client.post("/responses/1/judge", data=sent | fields).status_code in (200, 400, 409)
    assert project.store.work(1, "ada").version == 0


def test_every_answer_has_a_policy_that_lets_nothing_of_others_in(project: Project) -> None:
    client = signed_in(project)
    for path in ("/", "/guide", "/responses/1/judge", "/static/annotate.js", "/nowhere"):
        answer = client.get(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"<script(?! src=\"/static/)|\son\w+=|style=", answer.text) or path.endswith(".js")


def test_what_models_and_pages_write_is_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} \u202e\x1b[31m"
    task = AnnotationTask(
        id=evil, text=f"{evil} and more", prompt=evil, model=evil, claims=(MachineClaim(id='"><b>', text=evil),)
    )
    create(tmp_path / "evil", [task], made_of=evil)
    with Project(tmp_path / "evil") as project:
        client = signed_in(project)
        for path in ("/", "/responses/1/claims", "/responses/1/judge"):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "<b>" not in page
            seen = re.sub(
                r'<textarea.*?</textarea>|value="[^"]*"', "", page, flags=re.DOTALL
            )  # a form sends back what is there
            assert "\u202e" not in seen


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\u202eb"])
def test_a_name_that_cannot_be_seen_is_no_name(project: Project, name: str) -> None:
    assert served(project).post("/sign-in", data={"name": name}).status_code == 400
    assert project.store.annotators() == []


def test_other_servers_cookies_sign_nobody_out(project: Project) -> None:
    client = signed_in(project)
    ours = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    client.cookies.clear()
    for theirs in ('theme={"dark":1}', "a[b]=1", "x=y z", "localfact_annotator_0123456789ab=616461.00"):
        assert "Queue of ada" in client.get("/", headers={"cookie": f"{theirs}; {ours}"}).text


def test_what_was_typed_into_a_form_that_is_refused_stays_there(project: Project) -> None:
    client = signed_in(project)
    typed = {"text": "A claim of my own\u200f, long and careful.", "quote": "words that are not there"}
    page = client.post("/responses/1/claims", data=hidden(client.get("/responses/1/claims").text, "add") | typed).text
    assert "Not done: the response does not have these words" in page
    assert f">{typed['text']}</textarea>" in page
    assert f'value="{typed["quote"]}"' in page


def finished(project: Project, position: int, **labels: str) -> None:
    """Everybody judges every claim so and finishes."""
    for name, label in labels.items():
        store = project.store
        store.begin(position, name)
        for claim in store.work(position, name).open:
            version = store.work(position, name).version
            store.make(
                position,
                name,
                Step(kind=StepKind.JUDGE, claim=claim.id, label=Label(label)),
                version=version,
                key=f"k{version}",
            )
        version = store.work(position, name).version
        store.make(position, name, Step(kind=StepKind.FINISH), version=version, key=f"k{version}")


def decided(project: Project, name: str, label: str) -> None:
    client = signed_in(project, name)
    while 'value="decide"' in (page := client.get("/adjudicate/1").text) and "Everything is decided" not in page:
        client.post("/adjudicate/1", data=hidden(page, "decide") | {"label": label, "removal": "", "text": ""})
    client.post("/adjudicate/1", data=hidden(page, "finish"))


def test_an_adjudicator_who_only_looks_changes_nothing(project: Project) -> None:
    finished(project, 1, ada="supported", bo="refuted")
    decided(project, "cy", "supported")
    decided(project, "di", "irrelevant")
    assert project.store.adjudicators(1) == ["di", "cy"]
    signed_in(project, "cy").get("/adjudicate/1")
    assert project.store.adjudicators(1) == ["di", "cy"]


def test_nobody_decides_about_their_own_annotation(project: Project) -> None:
    finished(project, 1, ada="supported", bo="refuted")
    assert signed_in(project, "ada").get("/adjudicate/1").status_code == 403


def test_a_decision_about_what_has_changed_since_does_not_count(project: Project) -> None:
    finished(project, 1, ada="supported", bo="refuted")
    decided(project, "cy", "irrelevant")
    assert project.store.adjudicators(1) == ["cy"]
    for number, step in enumerate(
        (Step(kind=StepKind.REOPEN), Step(kind=StepKind.JUDGE, claim="c1", label=Label.CONFLICTING), Step(kind=StepKind.FINISH))
    ):
        version = project.store.work(1, "bo").version
        project.store.make(1, "bo", step, version=version, key=f"again {number}")
    assert project.store.adjudicators(1) == []
    assert [claim.id for claim in project.store.work(1, "cy", ADJUDICATE).open] == ["c1"]


def test_places_that_there_cannot_be_and_htmx_without_a_name_are_answered(project: Project) -> None:
    client = signed_in(project)
    assert client.get(f"/responses/{10**30}/claims").status_code == 404
    client.cookies.clear()
    assert client.get("/responses/1/claims", headers={"hx-request": "true"}).headers["hx-redirect"] == "/"

"""Requests that no browser sends: whatever stands in an address, a cookie, a header or a form, the server does not fail."""

import asyncio
from collections.abc import Iterator

import pytest
from annotation_projects import make_project
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from localfact.annotation.project import Project
from localfact.annotation.safety import AccessControl, Guarded
from localfact.annotation.server import application

HOST, SECRET = b"127.0.0.1:8737", "s"
LOCAL, OPEN = AccessControl("127.0.0.1", "", SECRET), AccessControl("0.0.0.0", "t0ken", SECRET)
NUMBERS = st.sampled_from(["0", "1", "1e3", "-1", "٣", "9" * 9, "9" * 10, "9" * 19, "9" * 5_000, "%31", " 1"])
ODD = st.one_of(st.text(max_size=40), st.text("0123456789abcdef.%&=;\"\\'\x00\xe9\xff", max_size=40), NUMBERS)
PATHS = st.one_of(
    st.builds("/{}".format, ODD),
    st.builds("/responses/{}/{}".format, NUMBERS, st.sampled_from(["claims", "judge", "", "x/y"])),
    st.builds("/adjudicate/{}".format, NUMBERS),
    st.builds("/static/{}".format, ODD),
    st.sampled_from(
        ["/", "/sign-in", "/sign-out", "/guide", "/next", "/adjudicate", "/responses/1/claims", "/responses/1/judge"]
    ),
)
METHODS = st.sampled_from(["GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "\xe9", ""])
FIELDS = ["kind", "claim", "text", "quote", "start", "end", "version", "key", "label", "removal", "agreed", "of", "name"]
FORM = st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=6)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with Project(make_project(tmp_path_factory.mktemp("odd") / "project", overlap=1.0)) as opened:
        yield opened


def status_of(app: Guarded, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
    """The status of the answer; an exception in the application is raised."""
    sent: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            sent.append(int(str(message["status"])))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(errors="replace"),
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8737),
    }
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return sent[0]


def quoted(form: dict[str, str]) -> bytes:
    return "&".join(f"{name}={value}" for name, value in form.items()).encode(errors="replace")


@given(
    method=METHODS,
    path=PATHS,
    query=st.one_of(st.binary(max_size=30), st.builds("claim={}&token={}".format, ODD, ODD).map(lambda one: one.encode())),
    cookie=st.one_of(st.binary(max_size=40), st.builds(lambda mac: b"616461." + mac, st.binary(max_size=20))),
    header=st.tuples(st.sampled_from([b"content-length", b"hx-request", b"host", b"origin", b"x"]), st.binary(max_size=30)),
    form=FORM,
    body=st.binary(max_size=40),
    signed_in=st.booleans(),
    access=st.sampled_from([LOCAL, OPEN]),
)
@example("GET", f"/responses/{'9' * 5_000}/claims", b"", b"", (b"x", b""), {}, b"", True, LOCAL)
@example("GET", f"/adjudicate/{'9' * 5_000}", b"", b"", (b"x", b""), {}, b"", True, LOCAL)
@example("GET", "/", b"", b"616461.\xe9", (b"x", b""), {}, b"", False, LOCAL)
@example("GET", "/", b"", b"616461.\xe9", (b"x", b""), {}, b"", False, OPEN)
@example("GET", "/", b"", b"", (b"content-length", b"9" * 5_000), {}, b"", True, LOCAL)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_request_is_an_error_of_the_server(
    project: Project,
    method: str,
    path: str,
    query: bytes,
    cookie: bytes,
    header: tuple[bytes, bytes],
    form: dict[str, str],
    body: bytes,
    signed_in: bool,
    access: AccessControl,
) -> None:
    token_cookie, name_cookie = (name.encode() for name in access.cookies)
    carried = name_cookie + b"=" + (access.sign("ada").encode() if signed_in else cookie)
    carried += b"; " + token_cookie + b"=" + (access.token.encode() if signed_in else cookie)
    usual = {b"host": HOST, b"origin": b"http://" + HOST, b"cookie": carried}
    filled = quoted({"form_token": access.form_token("ada"), "version": "0", "key": "k", **form}) + body
    assert status_of(application(project, access), method, path, query, list((usual | dict([header])).items()), filled) < 500


@pytest.mark.parametrize("mac", ["\xe9", "", "\x00", "0" * 64])
def test_a_cookie_of_odd_bytes_is_nobody(mac: str) -> None:
    assert LOCAL.name_in(f"616461.{mac}") is None


@pytest.mark.parametrize("number", ["9" * 10, "9" * 5_000])
@pytest.mark.parametrize("page", ["/responses/{}/claims", "/adjudicate/{}"])
def test_a_number_that_no_response_has_is_no_page(project: Project, page: str, number: str) -> None:
    headers = [(b"host", HOST), (b"cookie", f"{LOCAL.cookies[1]}={LOCAL.sign('ada')}".encode())]
    assert status_of(application(project, LOCAL), "GET", page.format(number), b"", headers, b"") == 404

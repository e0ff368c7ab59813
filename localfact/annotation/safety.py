"""Access control of the annotators' server and of the service: the checks before any page, and the headers of every answer.

A page of somebody else's, open in an annotator's browser, can send requests to a server on loopback. So a request must name one
of the server's own hosts (else a name could be bound to it anew), what changes something must come from a page of ours, and a
server that others can reach asks for a token.
"""

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
#: The longest body of a form, in bytes.
LONGEST_BODY = 64_000
#: How long a browser keeps both, in seconds.
KEPT_SECONDS = 30 * 24 * 3600
HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    # "no-referrer" would make browsers send no Origin with a form.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class AccessControl:
    """Which requests a server accepts.

    Attributes:
        host: the address it listens at.
        token: what everybody must have shown once; "" for nothing, on loopback alone.
        secret: of this project, never sent.
        longest_body: of a request, in bytes.
        programs: whether programs ask too, which name no origin and show the token in each request. A browser names its origin
            wherever a page of somebody else's sends something.
    """

    host: str
    token: str
    secret: str
    longest_body: int = LONGEST_BODY
    programs: bool = False

    @property
    def cookies(self) -> tuple[str, str]:
        """The cookies' names, of token and annotator: each project's own, as cookies know no ports."""
        own = self._mac("cookies", "")[:12]
        return f"localfact_token_{own}", f"localfact_annotator_{own}"

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server: a loopback name, or, where it listens for others, an address or its name."""
        name = _name_of(host)
        if name in LOOPBACK:
            return True
        if self.host in LOOPBACK:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {self.host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        return True

    def trusts_origin(self, origin: str | None, own: str) -> bool:
        """Whether what changes something may come from there."""
        return origin == own or (self.programs and origin is None)

    def is_shown_in(self, headers: Mapping[str, str]) -> bool:
        """Whether a program's request shows the token, as `Authorization: Bearer TOKEN`."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        return self.programs and kind.lower() == "bearer" and _is_same(given.strip(), self.token)

    def sign(self, name: str) -> str:
        """A name as its cookie carries it."""
        return f"{name.encode().hex()}.{self._mac('name', name)}"

    def name_in(self, cookie: str) -> str | None:
        """The name in a cookie of ours; None for any other."""
        coded, _, mac = cookie.partition(".")
        try:
            name = bytes.fromhex(coded).decode()
        except ValueError:
            return None
        return name if name and _is_same(mac, self._mac("name", name)) else None

    def form_token(self, name: str) -> str:
        """The token that every form on the pages of this annotator carries, against requests from other sites (CSRF)."""
        return self._mac("form", name)

    def is_form_token(self, given: str, name: str) -> bool:
        """Whether a form's token is that of this annotator."""
        return _is_same(given, self.form_token(name))

    def _mac(self, what: str, value: str) -> str:
        return hmac.new(self.secret.encode(), f"{what}:{value}".encode(), hashlib.sha256).hexdigest()


class Guarded:
    """An application behind access control."""

    def __init__(self, app: ASGIApp, access: AccessControl) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await refusal(scope, receive, _with_headers(send))
            else:
                await self.app(scope, limit_body(receive, self.access.longest_body), _with_headers(send))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        host = headers.get("host", "")
        if not self.access.knows(host):
            return PlainTextResponse("This server does not answer to that name.", status_code=421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("There is no such request.", status_code=405)
        length = headers.get("content-length", "0")
        if not (length.isdecimal() and len(length) < 10) or int(length) > self.access.longest_body:
            return PlainTextResponse("That is too long.", status_code=413)
        if scope["method"] == "POST" and not self.access.trusts_origin(headers.get("origin"), f"{scope['scheme']}://{host}"):
            return PlainTextResponse("Of pages, only this server's own may send it something.", status_code=403)
        return self._token_asked(scope, headers) if self.access.token else None

    def _token_asked(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        token_cookie, _ = self.access.cookies
        if _is_same(cookies(headers).get(token_cookie, ""), self.access.token) or self.access.is_shown_in(headers):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["method"] == "GET" and _is_same("".join(query.pop("token", [])), self.access.token):
            rest = urlencode(query, doseq=True)
            # One slash: "//host" would lead to another server.
            answer = RedirectResponse("/" + scope["path"].lstrip("/") + (f"?{rest}" if rest else ""), status_code=303)
            set_cookie(answer, token_cookie, self.access.token)
            return answer
        said = "Open the whole link that you were given: it ends in a token."
        if self.access.programs:
            said += " A program sends it in each request: Authorization: Bearer TOKEN."
        return PlainTextResponse(said, status_code=401)


def cookies(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request, ours among those of other servers of this machine, whatever those look like."""
    return cookie_parser(headers.get("cookie", ""))


def set_cookie(answer: Response, name: str, value: str) -> None:
    """Sets a cookie that no script reads; a browser sends it with a link from elsewhere (a mail), and with no form."""
    answer.set_cookie(name, value, max_age=KEPT_SECONDS, httponly=True, samesite="lax", path="/")


def _is_same(given: str, secret: str) -> bool:
    """Whether a text from outside, of any characters, is the secret; how long that takes tells nothing of it."""
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def _name_of(host: str) -> str:
    """The name in a Host header, without its port and brackets, in lower case."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def limit_body(receive: Receive, longest: int) -> Receive:
    """Ends a body of more bytes than that, whatever its content-length says."""
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > longest:
            return {"type": "http.disconnect"}
        return message

    return receive_bounded


def _with_headers(send: Send) -> Send:
    async def send_safely(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            known = {name for name, _ in given}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in known]
            message = {**message, "headers": [*given, *added]}
        await send(message)

    return send_safely

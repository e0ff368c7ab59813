"""Listens for browsers, or for programs, until it is stopped: the annotators' pages, and any other application of ours."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from localfact.annotation.project import Project
from localfact.errors import InputError, MissingError
from localfact.runtime.cures import install_extra

if TYPE_CHECKING:
    from localfact.annotation.safety import Guarded

#: Addresses that mean all of this machine's.
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
#: Connections that the system keeps for us until they are accepted.
BACKLOG = 128


def serve_project(
    project: Project, host: str, port: int, *, blind: bool, ready: Callable[[str], None], patience: float | None = None
) -> None:
    """Serves a project's pages until Ctrl-C, or a signal that ends the process.

    Args:
        host, port: where it listens; port 0 for a free one. Where others can reach it, everybody needs the link with the token.
        blind: whether what the machine found is hidden.
        ready: told the link, once it listens.
        patience: seconds that the other side of a connection is waited for; None for the usual.

    Raises:
        MissingError: what serves is not installed. InputError: nobody can listen there.
    """
    try:
        from localfact.annotation.safety import LOOPBACK, AccessControl
        from localfact.annotation.server import application
    except ImportError as error:
        raise not_installed(error) from error
    facts = project.store.facts()
    if not facts.get("token") or not facts.get("secret"):
        raise InputError(f"{project.folder} lacks its secrets, so it cannot be served safely. Create the project again.")
    token = "" if host in LOOPBACK else str(facts["token"])
    app = application(project, AccessControl(host, token, str(facts["secret"])), blind=blind)
    with listen_at(host, port) as listening:
        serve_application(app, host, listening, ready=ready, patience=patience)


def serve_application(
    app: "Guarded",
    host: str,
    listening: socket.socket,
    *,
    ready: Callable[[str], None],
    patience: float | None = None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serves a guarded application until Ctrl-C, or a signal that ends the process.

    Args:
        host, ready, patience: as of `serve_project`; the link has the token that the application asks for.
        listening: of `listen_at`, at that host.
        stopping: called when it is to stop, before open answers are waited for.

    Raises:
        MissingError: what serves is not installed.
    """
    try:
        import uvicorn

        from localfact.annotation.connections import PATIENCE, most_connections, protocol_of
    except ImportError as error:
        raise not_installed(error) from error

    class Stopping(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            stopping()
            super().handle_exit(sig, frame)

    # No log: a line a click is nothing that anybody reads; what fails is shown on the page.
    configuration = uvicorn.Config(
        app,
        http=protocol_of(PATIENCE if patience is None else patience, most_connections(BACKLOG)),
        loop="asyncio",
        backlog=BACKLOG,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
    )
    try:
        ready(_link(host, listening.getsockname()[1], app.access.token))
        Stopping(configuration).run(sockets=[listening])
    except KeyboardInterrupt:  # uvicorn ends in order and raises it again
        pass


def not_installed(error: ImportError) -> MissingError:
    """The error for what serving needs and is not there."""
    return MissingError(f"Serving needs more than is installed ({error.name}): {install_extra('serve')}.")


def _link(host: str, port: int, token: str) -> str:
    # Everywhere is no address that anybody could open.
    shown = socket.gethostname() if host in EVERYWHERE else host
    name = f"[{shown}]" if ":" in shown else shown
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def listen_at(host: str, port: int) -> socket.socket:
    """A socket for `serve_application`; whoever connects waits until that answers.

    Raises:
        InputError: nobody can listen there.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        raise InputError(f"Cannot listen at {host}:{port} ({error.strerror}). Name another --port, or --host.") from None
    return listening

"""The option --ray of commands that extract pages and embed passages: a cluster can do that in place of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from localfact.methods.machines import Machines

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Extract and embed on the machines of a Ray cluster: its address, or auto for this machine's.",
    ),
]


@contextmanager
def machines_at(ray: str | None) -> Iterator["Machines"]:
    """Where pages are extracted and passages embedded: on the cluster at that address, or here where it is None."""
    if ray is None:
        from localfact.methods.machines import THIS_MACHINE

        yield THIS_MACHINE
        return
    from localfact.cluster.pages import machines_of

    with machines_of(ray) as machines:
        yield machines

"""Marginals of fact graphs and UAI files, by any solver."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localfact.errors import InputError, LocalFactError
from localfact.runtime.files import write_file

STANDARD_INPUT = Path("/dev/stdin")


def infer(
    files: str | Path | Iterable[str | Path], *, solver: str = "auto", write_uai: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the marginals of each graph file, as plain values; a file that cannot be used yields `file` and `error_message`.

    "-" is standard input. A file that ends in .uai is read as such, with variables x0, x1, ...; any other is a fact graph in
    JSON. With `write_uai` each graph is also written into that folder as NAME.uai, for other solvers.

    `reference` is the deviation from the file's own reference marginals (`inference.reference`), where it has any.

    Raises:
        InputError: there is no such solver, no file is named, or two would be written under one name.
    """
    from localfact.inference.solve import SOLVERS

    if solver not in SOLVERS:
        raise InputError(f"There is no solver '{solver}'. Choose one of: {', '.join(SOLVERS)}.")
    named = [files] if isinstance(files, str | Path) else list(files) if isinstance(files, Iterable) else []
    if not named or not all(isinstance(file, Path) or (isinstance(file, str) and file) for file in named):
        raise InputError('infer takes the paths of graph files, at least one: localfact.infer(["graph.json"]).')
    graphs = [STANDARD_INPUT if str(file) == "-" else Path(file) for file in named]
    if write_uai is not None:
        refuse_equal_names(graphs)
    return _infer_files(graphs, solver, write_uai)


def refuse_equal_names(graphs: Sequence[Path]) -> None:
    """Makes sure that each graph has a name of its own, without its folder and its ending.

    Raises:
        InputError: two have the same.
    """
    known: dict[str, Path] = {}
    for file in graphs:
        other = known.setdefault(file.stem, file)
        if other is not file:
            raise InputError(f"{other} and {file} would both be written as {file.stem}.uai: give one another name.")


def _infer_files(files: Sequence[Path], solver: str, write_uai: Path | None) -> Iterator[dict[str, Any]]:
    from localfact.inference import marginals
    from localfact.inference.reading import read_graph
    from localfact.inference.reference import deviation_of
    from localfact.inference.uai import read_uai
    from localfact.inference.uai import write_uai as as_uai

    for file in files:
        is_uai = file.suffix == ".uai"
        try:
            graph = read_uai(text_of(file)) if is_uai else read_graph(file)
            if write_uai is not None:
                write_file(write_uai / f"{file.stem}.uai", [as_uai(graph).encode()])
            started = time.perf_counter()
            result = marginals(graph, solver=solver)
            seconds = time.perf_counter() - started
            deviation = None if is_uai or file == STANDARD_INPUT else deviation_of(file, result)
        except LocalFactError as error:
            yield {"file": str(file), "error_message": str(error)}
            continue
        yield {
            "file": str(file),
            "variables": len(graph.ids),
            "factors": len(graph.edges),
            "marginals": dict(result.marginals) if result.marginals is not None else None,
            "solver": result.solver,
            "exact": result.exact,
            "error": result.error,
            "log_z": result.log_z,
            "width": result.width,
            "consistent": result.consistent,
            "seconds": seconds,
            **({"reference": asdict(deviation)} if deviation else {}),
        }


def text_of(file: Path) -> str:
    """A text file's content.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None

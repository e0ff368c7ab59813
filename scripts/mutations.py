"""Takes statements out of the code, one at a time, and says whether the tests notice: a measure of the tests, not of the code.

    python -m scripts.mutations choose LIST.yaml --seed 14 --each 5   draws statements of each area that has none into the list
    python -m scripts.mutations reach LIST.yaml REACHED.jsonl         runs the tests once, and notes which meet which statement
    python -m scripts.mutations run LIST.yaml REACHED.jsonl           takes each statement out, and runs the tests that met it

LIST.yaml has `areas` (name: its `code` and `tests`, as paths) and `statements` (area, function, statement). A statement is
known by the function that it stands in and by its text, not by its file, so that a list outlives a move. Where no test that
met it notices, its area's tests run, too. A run that was stopped goes on with `--first`, the number of the next statement.
The checkout is edited and put back: nothing begins where something is not committed. After a kill, `git checkout localfact`.
"""

import argparse
import ast
import json
import random
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

#: A test run that takes longer, in seconds, is taken for one that a mutation made endless.
PATIENCE = 600
#: What of a statement is shown and compared: enough to know it by.
SHOWN = 200
PYTEST = (sys.executable, "-m", "pytest", "-q")
#: Its options that choose the tests of CI.
OF_CI = "-m 'not exhaustive'"
#: Its exit codes where a test failed or could not be imported, and where all is well or no test was chosen.
FAILED, PASSED = {1, 2}, {0, 5}
#: How many tests run in one process: the first of those that met a statement nearly always notice.
TOGETHER = 40
#: The module that a statement calls when it is met, while `reach` runs.
NOTING = Path("localfact/noting_of_mutations.py")
NOTE = """
import json, os
noted = set()
def met(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test and (number, test) not in noted:
        noted.add((number, test))
        with open({reached!r}, "a", encoding="utf-8") as file:
            file.write(json.dumps([number, test]) + chr(10))
"""


class CodeStatement(NamedTuple):
    """A statement that can be taken out: of a block that has others, or whose place `pass` can take."""

    file: Path
    function: str
    node: ast.stmt

    @property
    def text(self) -> str:
        """The statement as it is written without comments, cut."""
        return ast.unparse(self.node)[:SHOWN]


def statements(files: Sequence[Path]) -> Iterator[CodeStatement]:
    """Those statements of the files' functions whose loss Python itself would not complain of at once."""
    for file in files:
        for function, body in functions(ast.parse(file.read_text(encoding="utf-8")), ()):
            for node in own(body):
                if droppable(node):
                    yield CodeStatement(file, function, node)


def functions(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    """Every function below a node with its dotted name: classes and functions around it come first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not isinstance(child, ast.ClassDef):
                yield ".".join((*path, child.name)), child.body
            yield from functions(child, (*path, child.name))
        else:
            yield from functions(child, path)


def own(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a body, nested blocks included, without those of inner functions and classes."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from own(getattr(node, block, None) or [])
        for handler in getattr(node, "handlers", None) or []:
            yield from own(handler.body)


def droppable(node: ast.stmt) -> bool:
    """Whether taking it out leaves a program that runs: no name is lost by it, only what it does."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)  # docstrings and dots
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.If | ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete)


def without(statement: CodeStatement) -> str:
    """The file's text with `pass` in the statement's place."""
    lines = statement.file.read_text(encoding="utf-8").splitlines(keepends=True)
    first, last = statement.node.lineno - 1, statement.node.end_lineno or statement.node.lineno
    head = lines[first].encode()[: statement.node.col_offset].decode()
    # An `elif` is an `if` inside an `else` that is not written: what takes its place has to be an `elif`, too.
    put = "elif False: pass" if lines[first][len(head) :].startswith("elif") else "pass"
    tail = lines[last - 1].encode()[statement.node.end_col_offset :].decode()
    return "".join([*lines[:first], head + put + tail, *lines[last:]])


def python_files(paths: Sequence[str]) -> list[Path]:
    return [file for path in map(Path, paths) for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]


def choose(wanted: dict[str, Any], seed: int, each: int) -> list[dict[str, str]]:
    """So many statements of each area that has none yet, one a function at most."""
    chosen = list(wanted.get("statements", ()))
    areas = {row["area"] for row in chosen}
    known = {(row["function"], row["statement"]) for row in chosen}
    for area, places in wanted["areas"].items():
        if area in areas:
            continue
        found = [one for one in statements(python_files(places["code"])) if (one.function, one.text) not in known]
        random.Random(f"{seed} {area}").shuffle(found)
        firsts = {one.function: one for one in reversed(found)}
        ones = [one for one in found if firsts[one.function] is one][:each]
        chosen += [{"area": area, "function": one.function, "statement": one.text} for one in ones]
    return chosen


def find(row: dict[str, str]) -> CodeStatement | None:
    """Where a statement stands today; None where no function of that name has it."""
    everywhere = statements(python_files(["localfact"]))
    return next((one for one in everywhere if (one.function, one.text) == (row["function"], row["statement"])), None)


def reach(wanted: dict[str, Any], reached: Path, tests: Sequence[str]) -> None:
    """Runs the tests over code that notes, before each statement, the test that is running."""
    trees: dict[Path, ast.Module] = {}
    for number, row in enumerate(wanted["statements"]):
        if statement := find(row):
            tree = trees.setdefault(statement.file, ast.parse(statement.file.read_text(encoding="utf-8")))
            note(tree, statement.node.lineno, statement.node.col_offset, number)
    before = {file: file.read_bytes() for file in trees}
    reached.unlink(missing_ok=True)
    try:
        NOTING.write_text(NOTE.format(reached=str(reached.resolve())), encoding="utf-8")
        for file, tree in trees.items():
            file.write_text(ast.unparse(tree), encoding="utf-8")
        subprocess.run([*PYTEST, "-n", "2", "--dist", "worksteal", *tests], check=False)
    finally:
        NOTING.unlink()
        for file, content in before.items():
            file.write_bytes(content)


def note(tree: ast.AST, line: int, column: int, number: int) -> None:
    """Puts a call of what `NOTE` defines before the statement that begins there."""
    call = ast.parse(f"__import__('localfact.{NOTING.stem}').{NOTING.stem}.met({number})").body
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for place, one in enumerate(block if isinstance(block, list) else ()):
                if isinstance(one, ast.stmt) and (one.lineno, one.col_offset) == (line, column):
                    block[place:place] = call
                    return


def notices(tests: Sequence[str], *options: str) -> bool:
    """Whether one of the tests fails, or they come to no end."""
    try:
        done = subprocess.run([*PYTEST, "-x", *options, *tests], capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in FAILED | PASSED:
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode in FAILED


def run(wanted: dict[str, Any], reached: Path, tests: Sequence[str], first: int) -> None:
    """Takes each statement out, from the first wanted one on; prints which tests noticed, and how many were caught."""
    meetings: dict[int, list[str]] = {}
    for number, test in map(json.loads, reached.read_text(encoding="utf-8").splitlines()):
        if test not in meetings.setdefault(number, []):
            meetings[number].append(test)
    caught, lost = 0, 0
    rows = wanted["statements"][first - 1 :]
    for number, row in enumerate(rows, start=first - 1):
        statement = find(row)
        started = time.monotonic()
        if statement is None:
            lost, who = lost + 1, "NOT FOUND"
        else:
            who = taken_out(statement, meetings.get(number, []), wanted["areas"][row["area"]]["tests"], tests)
            caught += who != "nobody"
        place = statement.file if statement else "?"
        print(
            f"{number + 1:3} {who:14} {time.monotonic() - started:5.0f} s  {len(meetings.get(number, ())):5} met it  "
            f"{place} {row['function']}: {row['statement'][:80]!r}",
            flush=True,
        )
    print(f"caught {caught} of {len(rows)}, not found {lost}")


def taken_out(statement: CodeStatement, met: Sequence[str], area: Sequence[str], tests: Sequence[str]) -> str:
    """Who noticed that the statement is gone."""
    before = statement.file.read_bytes()
    shutil.rmtree(".hypothesis", ignore_errors=True)  # what an earlier statement's tests remember would fail without a cause
    try:
        statement.file.write_text(without(statement), encoding="utf-8")
        ast.parse(statement.file.read_text(encoding="utf-8"))
        met = sorted(met, key=lambda test: not test.startswith(tuple(area)))
        if any(notices(met[begin : begin + TOGETHER]) for begin in range(0, len(met), TOGETHER)):
            return "who met it"
        return "its area" if notices([*tests, *area], "-n", "2", "--dist", "worksteal") else "nobody"
    finally:
        statement.file.write_bytes(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("choose", "reach", "run"))
    parser.add_argument("list", type=Path, metavar="LIST.yaml")
    parser.add_argument("reached", type=Path, nargs="?", metavar="REACHED.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=10, help="statements an area")
    parser.add_argument("--first", type=int, default=1, help="number of the statement to begin with")
    parser.add_argument("--tests", type=shlex.split, default=OF_CI, help="options of pytest that choose the tests: %(default)s")
    given = parser.parse_args()
    wanted = yaml.safe_load(given.list.read_text(encoding="utf-8"))
    if given.what == "choose":
        wanted["statements"] = choose(wanted, given.seed, given.each)
        given.list.write_text(yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")
        return
    if given.reached is None:
        parser.error(f"{given.what} needs the file of which test meets which statement")
    if subprocess.run(["git", "status", "--porcelain", "localfact", "tests"], capture_output=True, check=True).stdout:
        sys.exit("Commit first: what is taken out is put back from the file as it stands.")
    if given.what == "reach":
        reach(wanted, given.reached, given.tests)
    else:
        run(wanted, given.reached, given.tests, given.first)


if __name__ == "__main__":
    main()

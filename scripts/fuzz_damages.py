"""What can be wrong with a file: damages of its bytes, and values in it that nobody expects there."""

import json
import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

#: Values that stand where another was.
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 0.5, -0.5, 1e308),
    *("", "0", "x", "nan", "..", "/", "\0", "x" * 100_000, "é" * 50, "\u202e\x1b[2J", "file:///etc/hosts", "http://[oops/"),
    *([], {}, [None], {"": None}, [[[]]] * 3, ["x"] * 2_000, {"a": {"a": {}}}),
)
#: Values of JSON and YAML that a cell of a table cannot hold.
BEYOND_CELLS: tuple[Any, ...] = (float("nan"), float("inf"), 10**400, 2**64)


def damage(file: Path, chance: random.Random) -> None:
    """Damages the file in one place, which is drawn; where it is read as values, every other time one of these."""
    changes: Mapping[str, Callable[[Path, random.Random], bool]] = {
        ".json": _change_json, ".jsonl": _change_line, ".yaml": _change_yaml, ".sqlite": _change_cell
    }  # fmt: skip
    change = changes.get(file.suffix)
    if change is None or chance.random() < 0.5 or not change(file, chance):
        file.write_bytes(damaged(file.read_bytes(), chance))


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with one thing wrong with its bytes, which is drawn."""
    begin = chance.randrange(len(content))
    end = min(len(content), begin + chance.choice((1, 4, 64, 4_096)))
    ways: Mapping[str, Callable[[], bytes]] = {
        "cut": lambda: content[:begin],
        "hole": lambda: content[:begin] + content[end:],
        "zeros": lambda: content[:begin] + bytes(end - begin) + content[end:],
        "noise": lambda: content[:begin] + chance.randbytes(end - begin) + content[end:],
        "ones": lambda: content[:begin] + b"\xff" * (end - begin) + content[end:],
        "twice": lambda: content[:end] + content[begin:],
        "bit": lambda: content[:begin] + bytes([content[begin] ^ (1 << chance.randrange(8))]) + content[begin + 1 :],
        "deep": lambda: content[:begin] + b"[" * 5_000 + content[begin:],
        "digits": lambda: content[:begin] + b"9" * 5_000 + content[begin:],
        "nothing": lambda: b"",
    }
    return ways[chance.choice(sorted(ways))]()


def changed(value: Any, chance: random.Random) -> Any:
    """The value with one of those in it replaced, left out or named otherwise, at a depth that is drawn."""
    children = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not children or chance.random() < 0.15:
        return chance.choice((*VALUES, *BEYOND_CELLS))
    child = chance.choice(children)
    copy = value.copy()
    way = chance.random()
    if way < 0.1:
        del copy[child]
    elif way < 0.2 and isinstance(copy, dict):
        copy[chance.choice(("", "x", "__class__", "type"))] = copy.pop(child)
    else:
        copy[child] = changed(copy[child], chance)
    return copy


def _change_json(file: Path, chance: random.Random) -> bool:
    file.write_text(json.dumps(changed(json.loads(file.read_text(encoding="utf-8")), chance)), encoding="utf-8")
    return True


def _change_line(file: Path, chance: random.Random) -> bool:
    lines = file.read_text(encoding="utf-8").splitlines()
    place = chance.randrange(len(lines))
    lines[place] = json.dumps(changed(json.loads(lines[place]), chance))
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return True


def _change_yaml(file: Path, chance: random.Random) -> bool:
    file.write_text(yaml.safe_dump(changed(yaml.safe_load(file.read_text(encoding="utf-8")), chance)), encoding="utf-8")
    return True


def _change_cell(file: Path, chance: random.Random) -> bool:
    """A cell of a table; of a JSON text mostly something in it. False where the table does not admit the new value."""
    with closing(sqlite3.connect(file)) as base, base:
        tables = sorted(
            name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL")
        )
        table = chance.choice(tables)
        about = base.execute(f'PRAGMA table_info("{table}")').fetchall()
        column = chance.choice([row[1] for row in about])
        keys = [f'"{row[1]}"' for row in about if row[5]] or ["rowid"]
        rows = base.execute(f'SELECT "{column}", {", ".join(keys)} FROM "{table}" LIMIT 1000').fetchall()
        if not rows:
            return False
        old, *key = chance.choice(rows)
        cells = [value for value in VALUES if not isinstance(value, (list, dict))]
        new = chance.choice([*cells, b"", b"\xff\xfe", b"x" * 1_000])
        if isinstance(old, str) and old[:1] in ("{", "[") and chance.random() < 0.7:
            new = json.dumps(changed(json.loads(old), chance))
        try:
            base.execute(
                f'UPDATE "{table}" SET "{column}" = ? WHERE {" AND ".join(f"{name} = ?" for name in keys)}', (new, *key)
            )
        except sqlite3.IntegrityError:
            return False
    return True

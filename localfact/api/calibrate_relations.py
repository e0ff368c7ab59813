"""Fits the map that calibrates a language model's relations, on the reference pairs or on a user's own labelled pairs."""

from pathlib import Path
from typing import Any

from localfact.api.relate import PAIRS, pair_of
from localfact.errors import InputError
from localfact.inputs.json_rows import RowError
from localfact.inputs.row_files import read_rows
from localfact.methods.options import Options
from localfact.methods.relation_calibration import LabelledPair, RelationCalibration, calibrate_on, labelled_pair
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete

#: What names the pairs that ship, in place of a file.
REFERENCE = "reference"
DIGITS = 12


def calibrate_relations(pairs: str | Path, *, options: Options) -> RelationCalibration:
    """Asks the language model about labelled pairs and fits its map.

    Args:
        pairs: "reference" for those that ship, or a file of JSON lines with `premise`, `hypothesis` and `label`.
        options: name the model, or a transcript.

    Raises:
        InputError: a row without texts or a known label, or too few pairs of a relation.
        EngineError: the model failed at a pair.
    """
    if str(pairs) == REFERENCE:
        return complete(calibrate_on(options, None))
    file = Path(pairs)
    labelled = read_labelled(file)
    return complete(calibrate_on(options, labelled, f"file@{file_digest(file)[:DIGITS]}"))


def read_labelled(file: Path) -> list[LabelledPair]:
    """The labelled pairs of a file.

    Raises:
        InputError: it cannot be read, or a row lacks a text or a label; the message names the row.
    """
    found = []
    for number, row in enumerate(read_rows(file, PAIRS), start=1):
        pair = None if isinstance(row, RowError) else pair_of(row)
        labelled = None if isinstance(row, RowError) or pair is None else labelled_pair(pair, str(row.get("label") or ""))
        if labelled is None:
            raise InputError(
                f"Row {number} of {file} needs a 'premise', a 'hypothesis' and a 'label': entailment, contradiction or neutral."
            )
        found.append(labelled)
    return found


def view_rows(found: RelationCalibration) -> list[dict[str, Any]]:
    """Raw and calibrated as rows for people."""
    return [
        {"probabilities": name, "log loss": f"{fit.log_loss:.3f}", "right": f"{fit.accuracy:.1%}"}
        | {f"called {label}": f"{share:.1%}" for label, share in fit.called.items()}
        for name, fit in (("raw", found.raw), ("calibrated, held out", found.calibrated))
    ]

"""Where the files that come with localfact lie: model cards and the sample, in a checkout or inside the installed wheel."""

from pathlib import Path

from localfact.errors import MissingError

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent
#: Where the wheel keeps what stands at the top of a checkout (pyproject.toml, [tool.hatch.build.targets.wheel.sources]).
WHEEL_DATA = PACKAGE / "_data"


def data_folder(name: str) -> Path:
    """The folder `name` ("models", "index"): the checkout's own first, then the wheel's.

    Raises:
        MissingError: neither has it, so the installation is damaged.
    """
    for base in (CHECKOUT, WHEEL_DATA):
        folder = base / name
        if folder.is_dir() and (base is WHEEL_DATA or (base / "pyproject.toml").is_file()):
            return folder
    raise MissingError(f"The folder '{name}' that comes with localfact is not there. Install localfact again: make setup")

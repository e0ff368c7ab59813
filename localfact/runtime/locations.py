"""Where files lie: those that come with localfact, in a checkout or inside the installed wheel, and those kept for a user."""

import os
from pathlib import Path

from localfact.errors import MissingError

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent
IN_CHECKOUT = (CHECKOUT / "pyproject.toml").is_file()
#: Where the wheel keeps what stands at the top of a checkout (pyproject.toml, [tool.hatch.build.targets.wheel.sources]).
WHEEL_DATA = PACKAGE / "_data"


#: Stands for a folder that is not there and cannot be made.
NOWHERE = Path(os.devnull) / "nowhere"


def user_folder(variable: str, default: str) -> Path:
    """The folder that an environment variable names, else `default`, which may begin with ~.

    NOWHERE for a user without a home: nothing is found there, and whatever is kept there raises OSError.
    """
    try:
        return Path(os.environ.get(variable) or default).expanduser()
    except RuntimeError:
        return NOWHERE


def data_folder(name: str) -> Path:
    """The folder `name` ("models", "index"): the checkout's own first, then the wheel's.

    Raises:
        MissingError: neither has it, so the installation is damaged.
    """
    for base in (CHECKOUT, WHEEL_DATA):
        folder = base / name
        if folder.is_dir() and (base is WHEEL_DATA or IN_CHECKOUT):
            return folder
    raise MissingError(f"The folder '{name}' that comes with localfact is not there. Install localfact again.")

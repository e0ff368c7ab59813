"""How to get what is not installed: by `make` in a checkout, by pip where localfact came as a wheel."""

import re
import shutil
from importlib.metadata import requires

from localfact.runtime.locations import IN_CHECKOUT

#: The end of a requirement in the metadata that an extra brings, with the extra's name.
OF_EXTRA = re.compile(r"""; *extra *== *['"]([\w-]+)['"]$""")


def install_all() -> str:
    """The command that installs localfact and what it always needs, again."""
    return "make setup" if IN_CHECKOUT else "pip install --force-reinstall localfact-*.whl"


def install_engine() -> str:
    """The command that installs vLLM: the build for CUDA where there is an NVIDIA driver, that for processors elsewhere."""
    if IN_CHECKOUT:
        return "make setup-llm"
    return install_extra("llm-cuda" if shutil.which("nvidia-smi") else "llm-cpu")


def install_extra(extra: str) -> str:
    """The command that installs what an extra (pyproject.toml) brings, by name: localfact itself is in no index."""
    found = [(line, OF_EXTRA.search(line)) for line in requires("localfact") or []]
    return "pip install " + " ".join(f"'{line[: of.start()].strip()}'" for line, of in found if of and of[1] == extra)

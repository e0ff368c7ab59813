"""Which window of the language model split or cut the responses of a run: with another window they would read otherwise."""

from localfact.errors import RunFolderError
from localfact.llm.engine import EngineIdentity
from localfact.runs.run_folder import RunFolder


def check_windows(folder: RunFolder, window: int | None) -> None:
    """Checks that today's window, None without a language model, decided every response that a window split or cut.

    Raises:
        RunFolderError: another one decided one of them.
    """
    others = set(folder.done.values()) - {None, window}
    if others:
        raise RunFolderError(
            f"{folder.path} has responses that a window of {', '.join(f'{other:,}' for other in sorted(filter(None, others)))} "
            f"tokens split or cut, and the model's is {window or 0:,} here. Give it that one (--engine-arg max_model_len=...), "
            "name another folder with --out, or begin it again with --force."
        )


def window_warnings(folder: RunFolder, begun: EngineIdentity | None) -> tuple[str, ...]:
    """A warning where a window split or cut responses, and the run was begun with a model of another one."""
    split = [window for window in folder.done.values() if window is not None]
    if begun is None or set(split) <= {begun.window}:
        return ()
    windows = " or ".join(f"{window:,}" for window in sorted(set(split)))
    told = f"{len(split)} responses were split or cut by the model's window of {windows} tokens"
    return (f"{told}; the run was begun with one of {begun.window:,}.",)

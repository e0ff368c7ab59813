"""Every table as LaTeX goes through a real LaTeX, where there is one: printed ones, and one with everything in its cells."""

import shutil
import subprocess
from pathlib import Path

import pytest
from run_builders import assessment

from localfact.papers.measured_table import measure_table
from localfact.papers.printed_tables import printed_tables
from localfact.report.alignment_table import ALL, alignment_table
from localfact.report.formats import latex
from localfact.report.leaderboard_table import leaderboard_table
from localfact.report.reliability_table import reliability_table
from localfact.report.table_data import Column, Group, Number, Table
from localfact.scoring.alignment import AlignedResponse, GoldClaim, align
from localfact.scoring.leaderboard import PromptCounts, leaderboard
from localfact.vocabulary import GoldLabel

HOSTILE = r"\input{/etc/passwd} $x_1^2$ & 50 % # {~} \\ ¿é ß – — “q” ± ≠ Δ △ − ≤"


def tables() -> list[Table]:
    run = [assessment("SC", gold="sn", posteriors=[0.9, 0.2], source="bio")]
    aligned = align([AlignedResponse(run[0], [GoldClaim("s", GoldLabel.SUPPORTED)], [(0, 0)], [True])])
    return [
        *(measure_table(printed) for printed in printed_tables().values()),
        alignment_table("A run beside its annotation", {ALL: aligned, HOSTILE: aligned}, {"run": HOSTILE}, (HOSTILE,)),
        leaderboard_table(leaderboard({HOSTILE: run}), ["bio"], "median", [HOSTILE], PromptCounts()),
        reliability_table({HOSTILE: run}),
        Table(
            HOSTILE, (Column(HOSTILE, "left"), Column("n")), (Group(HOSTILE, ((HOSTILE, Number(-1.5, 0.25, signed=True)),)),)
        ),
    ]


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no LaTeX on this machine: apt-get install texlive-latex-recommended"
)
def test_every_table_compiles(tmp_path: Path) -> None:
    pages = "\n\\clearpage\n".join(latex(table) for table in tables())
    packages = r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs}"
    document = f"\\documentclass{{article}}{packages}\\begin{{document}}\n{pages}\n\\end{{document}}\n"
    (tmp_path / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "-draftmode", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    errors = [line for line in said.splitlines() if line.startswith("!")]
    assert errors == []
    assert done.returncode == 0
    assert "root:" not in said

"""Tables of a page as lines: each value with its label or its columns, whatever markup states them, and no menus."""

import pytest

from localfact.web.extracting.extraction import extract
from localfact.web.extracting.tables import add_missing

BEFORE = "The crossing was planned for decades before the council of Velin voted for it in 1911."
AFTER = "The second paragraph says that nobody had expected the vote to go that way at all."


def lines(markup: str) -> list[str]:
    """The lines of a page between its two paragraphs."""
    page = f"<html><body><main><h1>Velin</h1><p>{BEFORE}</p>{markup}<p>{AFTER}</p></main></body></html>"
    found = extract(page.encode(), "text/html", None, "https://a.example/").text.split("\n")
    return found[found.index(BEFORE) + 1 : found.index(AFTER)]


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        (
            (
                "<table class=infobox><tr><th colspan=2>Velin-2</th></tr><tr><th>Operator</th><td><ul><li>ESA</li><li>NASA</li>"
                "</ul></td></tr><tr><th>Rocket</th><td><a>Ariane 5</a><sup>[3]</sup> (VA256)</td></tr></table>"
            ),
            ["Velin-2", "Operator: ESA, NASA", "Rocket: Ariane 5 (VA256)"],
        ),
        (
            "<table><tr><td>Weight:</td><td>3 kg</td></tr><tr><td>Colour</td><td>red</td></tr></table>",
            ["Weight: 3 kg", "Colour: red"],
        ),
        (
            (
                "<table><tr><th>Year</th><th>Prize</th><th>End</th></tr><tr><td rowspan=2>2001</td><td>A</td><td>won</td></tr>"
                "<tr><td>B</td><td>lost</td></tr></table>"
            ),
            ["Year: 2001; Prize: A; End: won", "Year: 2001; Prize: B; End: lost"],
        ),
        (
            "<table><tr><td>Year</td><td>Guests</td></tr><tr><td>1998</td><td>71</td></tr><tr><td>2002</td><td>80</td></tr></table>",
            ["Year: 1998; Guests: 71", "Year: 2002; Guests: 80"],
        ),
        (
            (
                "<table><caption>Members</caption><tr><th rowspan=2>Team</th><th colspan=2>Home</th></tr><tr><th>Won</th>"
                "<th>Lost</th></tr><tr><td>Reds</td><td>1</td><td>2</td></tr></table>"
            ),
            ["Members", "Team: Reds; Home Won: 1; Home Lost: 2"],
        ),
        (
            "<table><tr><th></th><th>2019</th><th>2020</th></tr><tr><th>Profit</th><td>1</td><td>2</td></tr></table>",
            ["Profit \N{EN DASH} 2019: 1; 2020: 2"],
        ),
        (
            "<table><tr><th></th><th>Use</th></tr><tr><td>Tar</td><td>roofs</td></tr><tr><td>Oil</td><td>lamps</td></tr></table>",
            ["Tar \N{EN DASH} Use: roofs", "Oil \N{EN DASH} Use: lamps"],
        ),
        ("<table><tr><th>Area</th><td>3 ha</td><th>Mayor</th><td>Ann Orm</td></tr></table>", ["Area: 3 ha; Mayor: Ann Orm"]),
        (
            "<dl><div><dt>Born</dt><dd>1815</dd></div><div><dt>Sons</dt><dd>Ivo</dd><dd>Jon</dd></div></dl>",
            ["Born: 1815", "Sons: Ivo, Jon"],
        ),
        (
            (
                "<aside><h2>Facts</h2><div><h3>High</h3><div>9 m</div></div><div><h3>Wide</h3><div>3 m</div></div><div><h3>Deep"
                "</h3><div>1 m</div></div></aside>"
            ),
            ["High: 9 m", "Wide: 3 m", "Deep: 1 m"],
        ),
        (
            "<div><p><b>Born</b><br>1815</p><p><b>Died</b><br>1852</p><p><b>Field:</b> numbers</p></div>",
            ["Born: 1815", "Died: 1852", "Field: numbers"],
        ),
        (
            (
                "<div role=table><div role=row><b role=columnheader>Name</b><b role=columnheader>Age</b></div>"
                "<div role=row><i role=cell>Ann</i><i role=cell>31</i></div></div>"
            ),
            ["Name: Ann; Age: 31"],
        ),
        ("<table><tr><th>Ships</th><td><a>One more ship</a> <a>Two ships</a> <a>Three ships</a></td></tr></table>", []),
        (
            f"<table><tr><td><a>Home</a><a>News</a><a>Shop</a></td><td><h2>Votes</h2><p>{BEFORE[:60]}</p></td></tr></table>",
            ["Votes", BEFORE[:60]],
        ),
    ],
)
def test_tables_come_as_lines_that_can_be_read_alone(markup: str, written: list[str]) -> None:
    assert lines(markup) == written


def test_a_table_that_extraction_lost_comes_before_the_paragraph_that_followed_it() -> None:
    from localfact.web.extracting.tables import Block

    begin = "".join(AFTER.split())[:40]
    text = add_missing(f"{BEFORE}\n{AFTER}", [Block(["High: 9 m"], ["elsewhere", begin]), Block(["Wide: 3 m"], [])])
    assert text == f"{BEFORE}\nHigh: 9 m\n{AFTER}\nWide: 3 m"

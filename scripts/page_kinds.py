"""Web pages of twenty-six kinds, made up by a seed: what each says in prose and in tables, and what is about the site only.

For `scripts/measure_extraction.py`. Every page is in one of three frames, as sites have them: HTML5 elements, divisions with
classes, tables that lay out.
"""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

from scripts.page_facts import MENU, PLACES, SITE, Fact, Writer, links, table


class MadePage(NamedTuple):
    """A page, what it says, and what of its text is about the site."""

    kind: str
    html: str
    prose: list[Fact]
    facts: list[Fact]
    site: list[str]


def infobox(w: Writer) -> str:
    head = f'<tr><th colspan="2" class="infobox-above">{w.name}</th></tr><tr><td colspan="2"><img src="a.jpg"></td></tr>'
    rows = "".join(
        (
            f'<tr><th scope="row" class="infobox-label">{label}</th><td class="infobox-data">'
            f'<a href="/x">{value}</a><sup>[{n}]</sup></td></tr>'
        )
        for n, (label, value) in enumerate(w.pairs())
    )
    return (
        f'<div class="mw-parser-output"><table class="infobox vcard"><tbody>{head}{rows}</tbody></table>{w.paragraphs()}'
        f'<table class="navbox"><tr><th>Landmarks</th><td>{links(w)}</td></tr></table></div>'
    )


def fandom(w: Writer) -> str:
    items = "".join(
        f'<div class="pi-item pi-data"><h3 class="pi-data-label">{a}</h3><div class="pi-data-value">{b}</div></div>'
        for a, b in w.pairs()
    )
    return f'<div><aside class="portable-infobox"><h2 class="pi-title">{w.name}</h2>{items}</aside>{w.paragraphs()}</div>'


def product(w: Writer) -> str:
    price = f"€{w.number(900)}.90"
    w.facts.append(("Price", price))
    specification = table(w.pairs(), row_heads=True, attributes='class="specs"')
    return (
        f'<h1>{w.name} model kit</h1><div class="price"><span>Price</span> <b>'
        f"{price}</b></div><p>{w.paragraph()}</p><h2>Specification</h2>"
        f"{specification}"
    )


def product_plain(w: Writer) -> str:
    return f'<p>{w.paragraph(2)}</p><div id="tab-specs">{table(w.pairs(7), attributes="border=1")}</div>'


def news(w: Writer) -> str:
    box = "".join(f"<li><strong>{a}:</strong> {b}</li>" for a, b in w.pairs(4))
    return (
        f'<article><h1>{w.name} reopens</h1>{w.paragraphs(5)}<aside class="factbox">'
        f"<h3>Key facts</h3><ul>{box}</ul></aside></article>"
    )


def news_table(w: Writer) -> str:
    return (
        f"<article>{w.paragraphs(3)}<figure><figcaption>At a glance</figcaption>"
        f"{table(w.pairs(5))}</figure>{w.paragraphs(2)}</article>"
    )


def documentation(w: Writer) -> str:
    columns = ["Setting", "Default", "Maximum"]
    return (
        f"<h1>Settings</h1>{w.paragraphs(2)}<h2>Reference</h2>{table(w.grid(columns, 8), columns, attributes='class=docutils')}"
        "<pre><code>run --all</code></pre>"
    )


def glossary(w: Writer) -> str:
    items = "".join(f"<dt>{a}</dt><dd><p>{b}</p></dd>" for a, b in w.pairs(7))
    return f"<h1>{w.name}</h1>{w.paragraphs(2)}<dl>{items}</dl>"


def blog(w: Writer) -> str:
    comment = "First! Great post, thanks for sharing it with everybody"
    w.site.append(comment)
    return (
        f'<div class="post"><h2>A day at the {w.name}</h2>{w.paragraphs(5)}</div>'
        f'<div id="comments"><h3>Comments</h3><p>{comment}</p></div>'
    )


def results(w: Writer) -> str:
    columns = ["Team", "Points", "Goals", "Crowd"]
    return (
        f"<h1>Season {w.year()}</h1><p>{w.paragraph(1)}</p>{table(w.grid(columns, 10), columns, attributes='class=wikitable')}"
    )


def results_plain(w: Writer) -> str:
    columns = ["Runner", "Distance", "Rank"]
    top = "<tr>" + "".join(f"<th>{column}</th>" for column in columns) + "</tr>"
    rows = "".join(
        "<tr>" + "".join(f"<td><a href='/r'>{v}</a></td>" if not n else f"<td>{v}</td>" for n, v in enumerate(row)) + "</tr>"
        for row in w.grid(columns, 12)
    )
    return f"<h2>Race of {w.place}</h2><table>{top}{rows}</table>"


def grouped(w: Writer) -> str:
    rows = w.grid(["Region", "Men", "Women"], 5)
    top = '<tr><th rowspan="2">Region</th><th colspan="2">Members</th></tr><tr><th>Men</th><th>Women</th></tr>'
    body = "".join(f"<tr><th>{row[0]}</th><td>{row[1]}</td><td>{row[2]}</td></tr>" for row in rows)
    return f"<h1>Census</h1><p>{w.paragraph()}</p><table><caption>Members by region</caption>{top}{body}</table>"


def comparison(w: Writer) -> str:
    columns = ["", "Basic plan", "Large plan"]
    return f"<p>{w.paragraph()}</p>{table(w.grid(columns, 6), columns, row_heads=True)}"


def key_facts(w: Writer) -> str:
    items = "".join(
        f'<div class="fact"><div class="fact__name">{a}</div><div class="fact__value">{b}</div></div>' for a, b in w.pairs(6)
    )
    return f'<section class="facts"><h2>Key facts</h2>{items}</section><p>{w.paragraph()}</p>'


def key_facts_list(w: Writer) -> str:
    items = "".join(f'<li><span class="k">{a}</span><span class="v">{b}</span></li>' for a, b in w.pairs(6))
    return f'<h1>{w.name}</h1><ul class="at-a-glance">{items}</ul>{w.paragraphs(3)}'


def recipe(w: Writer) -> str:
    nutrition = table(w.grid(["Per serving", "Amount"], 4), ["Per serving", "Amount"], attributes='class="nutrition"')
    ingredients = [f"{w.number(500)} g of {food}" for food in ("flour", "butter", "sugar", "rye", "plums")]
    w.facts += [(each,) for each in ingredients]
    return (
        f"<h1>{w.place} cake</h1><ul>{''.join(f'<li>{each}</li>' for each in ingredients)}</ul>"
        f"<ol><li>{w.paragraph(1)}</li><li>{w.paragraph(1)}</li></ol>{nutrition}"
    )


def forum(w: Writer) -> str:
    posts = "".join(
        f'<div class="post"><div class="author">user{n}</div><div class="content"><p>{w.paragraph(2)}</p></div></div>'
        for n in range(5)
    )
    return f'<div class="thread"><h1>Question on the {w.name}</h1>{posts}</div>'


def linked_data(w: Writer) -> str:
    body = " ".join(w.paragraph(3) for _ in range(3))
    data = json.dumps({"@context": "https://schema.org", "@type": "NewsArticle", "headline": w.name, "articleBody": body})
    return f'<div id="root"></div><script type="application/ld+json">{data}</script>'


def cookie_wall(w: Writer) -> str:
    banner = "Your privacy matters: we and 214 partners store data on your device"
    w.site.append(banner)
    return (
        f'<div class="cookie-consent" role="dialog"><p>{banner}</p><table>'
        "<tr><th>Cookie</th><th>Purpose</th></tr><tr><td>sid</td><td>Session tracking</td>"
        f"</tr></table><button>Accept</button></div><article><h1>{w.name}</h1>"
        f"{w.paragraphs(4)}</article>"
    )


def questions(w: Writer) -> str:
    asked = "".join(f"<details open><summary>What of part {n}?</summary><p>{w.paragraph(1)}</p></details>" for n in range(5))
    return f"<h1>Questions</h1>{asked}"


def biography(w: Writer) -> str:
    events = [(str(w.year()), f"moves to {w.rng.choice(PLACES)} {n}") for n in range(5)]
    w.facts += events
    return (
        f"<h1>{w.person}</h1>{w.paragraphs(2)}<h2>Timeline</h2><table class='timeline'>"
        f"{''.join(f'<tr><td>{a}</td><td>{b}</td></tr>' for a, b in events)}</table>"
    )


def company(w: Writer) -> str:
    four = w.pairs(6)
    rows = "".join(
        f"<tr><th>{a}</th><td>{b}</td><th>{c}</th><td>{d}</td></tr>"
        for (a, b), (c, d) in zip(four[::2], four[1::2], strict=True)
    )
    return f"<h1>{w.place} AG</h1><table>{rows}</table><p>{w.paragraph()}</p>"


def government(w: Writer) -> str:
    inner = table(w.pairs(5), row_heads=True)
    return (
        f'<table width="100%"><tr><td width="20%">{links(w)}</td><td><h1>'
        f"{w.name}</h1>{w.paragraphs(2)}{inner}</td></tr></table>"
    )


def event(w: Writer) -> str:
    items = "".join(f"<p><b>{a}</b>: {b}</p>" for a, b in w.pairs(4))
    return f'<div class="event"><h1>Night of the {w.thing}</h1>{items}<div class="description">{w.paragraph()}</div></div>'


def timetable(w: Writer) -> str:
    columns = ["Station", "First train", "Last train"]
    return (
        f"<h1>Line {w.number(90)}</h1><div class='scroll'><div>{table(w.grid(columns, 9), columns, attributes='role=table')}"
        "</div></div>"
    )


def short_entry(w: Writer) -> str:
    items = "".join(f"<dt>{a}</dt><dd>{b}</dd>" for a, b in w.pairs(5))
    return (
        f'<div class="sidebar facts"><dl>{items}</dl></div><div class="content"><h1>{w.name}</h1><p>{w.paragraph(1)}</p></div>'
    )


KINDS: tuple[Callable[[Writer], str], ...] = (
    *(
        infobox,
        fandom,
        product,
        product_plain,
        news,
        news_table,
        documentation,
        glossary,
        blog,
        results,
        results_plain,
        grouped,
    ),
    *(
        comparison,
        key_facts,
        key_facts_list,
        recipe,
        forum,
        linked_data,
        cookie_wall,
        questions,
        biography,
        company,
        government,
    ),
    *(event, timetable, short_entry),
)


def frame(w: Writer, content: str, number: int) -> str:
    """The content in a site's frame, by number."""
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{w.name}</title></head><body>'
    menu = "".join(f'<li><a href="/{n}">{item}</a></li>' for n, item in enumerate(MENU))
    news_, terms, rights, follow, cookies, more = SITE
    if number % 3 == 0:
        return (
            f"{head}<header><nav><ul>{menu}</ul></nav></header><main>{content}</main>"
            f"<aside><h3>{more}</h3></aside><footer><p>{news_}</p><p>{terms}</p>"
            f'<p>{rights}</p><p>{follow}</p></footer><div class="cookie-banner">'
            f"{cookies}</div></body></html>"
        )
    if number % 3 == 1:
        return (
            f'{head}<div id="header" class="navbar"><ul class="menu">{menu}</ul>'
            f'</div><div id="content">{content}</div><div class="related">{more}</div>'
            f'<div id="footer"><p>{news_}</p><p>{terms}</p><span>{rights}</span> {follow}</div>'
            f'<div id="cookie-consent">{cookies}</div></body></html>'
        )
    return (
        f'{head}<div class="wrap"><div class="nav"><ul>{menu}</ul></div>'
        f'<div class="body-content">{content}</div><div class="sidebar">'
        f'<p>{more}</p></div></div><div class="site-footer">{news_} | {terms} | {rights} | {follow}</div>'
        f'<div class="cookie-notice">{cookies}</div></body></html>'
    )


def make_pages(count: int = 50, seed: int = 7) -> list[MadePage]:
    """So many pages, every kind in turn, always the same for a seed."""
    pages = []
    for number in range(count):
        writer = Writer(random.Random(f"{seed}-{number}"))
        kind = KINDS[number % len(KINDS)]
        html = frame(writer, kind(writer), number // len(KINDS) + number)
        pages.append(MadePage(kind.__name__, html, writer.prose, writer.facts, writer.site))
    return pages

"""Article pages as sites serve them: a few kilobytes of text among navigation, links, scripts and other stories."""

import random

CARDS = ".card{margin:0;padding:1px}" * 100
SYLLABLES = [
    "ka",
    "lo",
    "mer",
    "tan",
    "vi",
    "ros",
    "del",
    "mi",
    "nor",
    "pe",
    "sal",
    "du",
    "gri",
    "hen",
    "bo",
    "tur",
    "al",
    "en",
    "or",
    "is",
]
SCRIPT = (
    "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}" + "var a=1;" * 300 + "</script>"
)


def words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3))) for _ in range(count)]


def sentence(rng: random.Random) -> str:
    return " ".join([*words(rng, rng.randint(8, 22)), "of the", rng.choice(SYLLABLES)]).capitalize() + "."


def paragraph(rng: random.Random) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 7)))


def article(seed: int, paragraphs: int = 25) -> tuple[str, list[str]]:
    """A page of some 40 kB, and the paragraphs that its main text has."""
    rng = random.Random(seed)
    texts = [paragraph(rng) for _ in range(paragraphs)]
    title = " ".join(words(rng, 5)).capitalize()
    body = "".join(f"<h2>{' '.join(words(rng, 4))}</h2>" * (i % 5 == 4) + f"<p>{text}</p>" for i, text in enumerate(texts))
    day = seed % 28 + 1
    page = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title} | Daily Orm</title>
<meta property="og:title" content="{title}"><meta property="article:published_time" content="2021-06-{day:02d}T08:00:00Z">
<style>.visually-hidden{{position:absolute;left:-9999px}}.nav-link{{color:#333}}{CARDS}</style>{SCRIPT}</head>
<body><header><a class="visually-hidden" href="#main">Skip to content</a><nav><ul>{navigation(rng)}</ul></nav></header>
<div class="layout"><main id="main"><article><h1>{title}</h1><div class="byline">By Ann Orm</div>{body}</article></main>
<aside class="sidebar">{related(rng)}</aside></div><section id="comments" class="comments">{comments(rng)}</section>
<footer>{" ".join(f'<a href="/f/{word}">{word}</a>' for word in words(rng, 80))}
<p>Copyright 2021 Daily Orm. All rights reserved.</p></footer>{SCRIPT}</body></html>"""
    return page, texts


def navigation(rng: random.Random) -> str:
    return "".join(
        f'<li class="nav-item"><a class="nav-link" href="/{word}">{word} {word}</a></li>' for word in words(rng, 120)
    )


def related(rng: random.Random) -> str:
    stories = (" ".join(words(rng, 6)) for _ in range(30))
    return "".join(f'<div class="card"><a href="/s"><img src="/i.jpg" alt=""><h3>{story}</h3></a></div>' for story in stories)


def comments(rng: random.Random) -> str:
    return "".join(f'<div class="comment"><p>{sentence(rng)}</p></div>' for _ in range(15))

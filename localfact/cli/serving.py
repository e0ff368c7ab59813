"""The commands by which other programs ask localfact: serve, over HTTP, and mcp, over standard input and output."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.evaluate import begin_offline
from localfact.cli.options import Concurrency, MaxWords, MethodName, Offline, options_from
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import Options, WebOptions
from localfact.report.console import note

#: What a service cannot be asked for: it reads a corpus that is there.
WITHOUT = frozenset(WebOptions.model_fields)
SAMPLE = "Evidence: the sample's 60 pages about 20 topics. For your own pages: localfact corpus build, then --corpus DIR"


@options_from(Options, without=WITHOUT)
def serve(
    options: Options,
    method: MethodName = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Another than loopback asks everybody for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 8738,
    jobs: Annotated[Path, typer.Option("--jobs", help="Where evaluations are kept, each a run folder.")] = Path("jobs"),
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    offline: Offline = False,
) -> None:
    """Check texts and evaluate files over HTTP, by one engine, until Ctrl-C. A killed server goes on with its jobs.

    [dim]localfact serve --corpus index/mine[/]           then POST /check and /evaluate; / says what there is
    [dim]localfact serve --corpus index/mine --host 0.0.0.0[/]  for others in the house; prints a link with a token
    """
    begin_offline(offline, options)
    from localfact.annotation.serving import not_installed
    from localfact.api.shared_assessor import SharedAssessor

    try:
        from localfact.integrations.serving.service import serve as answer_requests
    except ImportError as error:
        raise not_installed(error) from error
    with SharedAssessor(method, with_corpus(options), max_words=max_words, concurrency=concurrency) as shared:
        answer_requests(shared, jobs, host, port, ready=lambda link: note(f"Listening at {link} Ctrl-C stops it."))
    note(f"Stopped. What jobs have done is in {jobs}; the same command goes on with them.")


@options_from(Options, without=WITHOUT | {"claims"})
def mcp(options: Options, method: MethodName = None, max_words: MaxWords = MAX_WORDS, offline: Offline = False) -> None:
    """Check texts for an assistant, as an MCP server on standard input and output: check_text, explain_claim, search_corpus.

    [dim]localfact mcp --corpus index/mine[/]             what an MCP client is told to start
    """
    begin_offline(offline, options)
    from localfact.api.shared_assessor import SharedAssessor
    from localfact.integrations.mcp_server import serve_over_stdio

    with SharedAssessor(method, with_corpus(options), max_words=max_words) as shared:
        serve_over_stdio(shared)


def with_corpus(options: Options) -> Options:
    """The options with a corpus: the sample's where none is named, which is told."""
    if options.corpus is not None:
        return options
    from localfact.api.sample import sample_corpus

    note(SAMPLE)
    return options.model_copy(update={"corpus": sample_corpus()})

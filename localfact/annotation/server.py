"""The annotators' web application: who signs in, the queue, the guide, and where each page is.

Pages are rendered here; htmx, in the browser, puts the changed part of one in place.
"""

from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from localfact.annotation.forms import Asked, RefusedError, asks_in_part, fields_of
from localfact.annotation.project import Project
from localfact.annotation.safety import AccessControl, Guarded, cookies, set_cookie
from localfact.annotation.screens import CLAIMS, Screens, redirect
from localfact.annotation.store import ADJUDICATE, ANNOTATE, AnnotationProgress
from localfact.annotation.templates import Renderer, static_files
from localfact.errors import InputError
from localfact.report.page.rendering import show
from localfact.text import readable

#: The longest name of an annotator.
LONGEST_NAME = 60


class PositionConvertor(IntegerConvertor):
    """The number of a response in an address; one of more digits, which no database could be asked for, is no page."""

    regex = "[0-9]{1,9}"


register_url_convertor("position", PositionConvertor())


def application(project: Project, access: AccessControl, *, blind: bool = False) -> Guarded:
    """The application of a project. `blind`: what the machine found is not shown to annotators."""
    return Guarded(Pages(project, access, blind).app, access)


class Pages:
    """The pages and what their forms do."""

    def __init__(self, project: Project, access: AccessControl, blind: bool) -> None:
        self.project = project
        self.store = project.store
        self.access = access
        self.renderer = Renderer(project.store, access, blind)
        signed_in, screens = self._for_signed_in, Screens(self.renderer)
        self.app = Starlette(
            routes=[
                Route("/", self._explain_errors(self._front)),
                Route("/sign-in", self._explain_errors(self._sign_in), methods=["POST"]),
                Route("/sign-out", signed_in(self._sign_out), methods=["POST"]),
                Route("/guide", signed_in(self._guide)),
                Route("/next", signed_in(self._next)),
                Route("/responses/{position:position}/{screen}", signed_in(screens.response)),
                Route("/responses/{position:position}/{screen}", signed_in(screens.step), methods=["POST"]),
                Route("/adjudicate", signed_in(screens.differing)),
                Route("/adjudicate/{position:position}", signed_in(screens.adjudication)),
                Route("/adjudicate/{position:position}", signed_in(screens.decision), methods=["POST"]),
                Route("/static/{name}", self._static),
            ],
        )

    def _for_signed_in(self, answer: Callable[[Asked], Response]) -> Callable[[Request], Any]:
        """The page for somebody who signed in; others are led to the front page, a form without its token nowhere."""

        async def respond(request: Request) -> Response:
            name = self._name(request)
            if name is None:
                return redirect("/", in_part=asks_in_part(request))
            form = await fields_of(request) if request.method == "POST" else {}
            if request.method == "POST" and not self.access.is_form_token(form.get("form_token", ""), name):
                raise RefusedError("The form is old. Load the page again.")
            return await run_in_threadpool(answer, Asked(request, name, form))

        return self._explain_errors(respond)

    def _explain_errors(self, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
        """What cannot be done is told on a page."""

        async def respond(request: Request) -> Response:
            try:
                found: Response = await answer(request)
                return found
            except ClientDisconnect:
                said, status = "That is too long.", 413
            except RefusedError as refused:
                said, status = str(refused), refused.status
            except InputError as error:
                said, status = f"Nothing was saved. {error}", 500
            # Of a damaged database not even who adjudicates can be asked.
            return self.renderer.page(
                "refused.html",
                self._name(request) or "",
                status=status,
                fragment=asks_in_part(request),
                adjudicates=False,
                said=said,
            )

        return respond

    def _name(self, request: Request) -> str | None:
        return self.access.name_in(cookies(request.headers).get(self.access.cookies[1], ""))

    async def _front(self, request: Request) -> Response:
        name = self._name(request)
        if name is None:
            return self.renderer.page("sign_in.html", "", names=self.store.annotators(), said="")
        return await run_in_threadpool(self._queue, name)

    async def _sign_in(self, request: Request) -> Response:
        form = await fields_of(request)
        name = " ".join(readable(form.get("name", "")).split())
        if not name or len(name) > LONGEST_NAME or show(name) != name:
            said = f"A name has 1 to {LONGEST_NAME} characters that can be seen."
            return self.renderer.page("sign_in.html", "", names=self.store.annotators(), said=said, status=400)
        await run_in_threadpool(self.store.join, name)
        answer = RedirectResponse("/", status_code=303)
        set_cookie(answer, self.access.cookies[1], self.access.sign(name))
        return answer

    def _sign_out(self, asked: Asked) -> Response:
        answer = RedirectResponse("/", status_code=303)
        answer.delete_cookie(self.access.cookies[1], path="/")
        return answer

    def _queue(self, name: str) -> Response:
        """The page with an annotator's finished responses, those they can continue, and everybody's progress."""
        progress = self.store.progress()
        wanted = self.store.annotators_wanted()
        mine = [one for one in progress if one.annotator == name and one.role == ANNOTATE]
        finished = [one for one in progress if one.role == ANNOTATE and one.finished]
        return self.renderer.page(
            "queue.html",
            name,
            title=f"Queue of {name}",
            mine=mine,
            total=sum(wanted.values()),
            finished=len(finished),
            responses=len(wanted),
            for_two=sum(people > 1 for people in wanted.values()),
            minutes=sum(one.seconds for one in mine) / 60,
            others=_by_name(progress),
            left=any(not one.finished for one in mine) or self.store.free_task(name) is not None,
        )

    def _guide(self, asked: Asked) -> Response:
        from markdown_it import MarkdownIt
        from markupsafe import Markup

        # Without HTML of its own; its links are checked, its pictures are shut out by the policy.
        written = MarkdownIt("commonmark", {"html": False}).enable("table").render(show(self.project.guide()))
        meaning = self.store.irrelevant_means
        return self.renderer.page("guide.html", asked.name, title="Guide", guide=Markup(written), irrelevant_means=meaning)

    def _next(self, asked: Asked) -> Response:
        position = self.store.next_task(asked.name)
        return RedirectResponse("/" if position is None else f"/responses/{position}/{CLAIMS}", status_code=303)

    async def _static(self, request: Request) -> Response:
        found = static_files().get(request.path_params["name"])
        if found is None:
            return Response(status_code=404)
        return Response(found[0], media_type=found[1], headers={"cache-control": "max-age=3600"})


def _by_name(progress: Sequence[AnnotationProgress]) -> list[dict[str, Any]]:
    """Everybody's figures: responses finished, claims judged, minutes."""
    found: dict[str, dict[str, Any]] = {}
    for one in progress:
        sums = found.setdefault(
            one.annotator, {"name": one.annotator, "finished": 0, "begun": 0, "judged": 0, "decided": 0, "minutes": 0.0}
        )
        if one.role == ADJUDICATE:
            sums["decided"] += one.finished
        else:
            sums["finished"] += one.finished
            sums["begun"] += not one.finished
            sums["judged"] += one.judged
        sums["minutes"] += one.seconds / 60
    return list(found.values())

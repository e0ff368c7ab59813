"""The annotators' web application: server-rendered pages, of which htmx puts the changed part in place."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from localfact.annotation import views
from localfact.annotation.differences import Item, items_of
from localfact.annotation.forms import fields_of, step_of
from localfact.annotation.labels import Removal
from localfact.annotation.project import Project
from localfact.annotation.safety import AccessControl, Guarded, cookies, set_cookie
from localfact.annotation.store import ADJUDICATE, ANNOTATE, BehindError, MisfitError
from localfact.annotation.tasks import AnnotationTask
from localfact.annotation.templates import environment, static_files
from localfact.annotation.work import LONGEST_TEXT, Step, StepKind, Work
from localfact.errors import InputError
from localfact.report.page.rendering import shown
from localfact.report.palette import MARKS
from localfact.text import readable

CLAIMS, JUDGE = "claims", "judge"
#: The longest name of an annotator.
LONGEST_NAME = 60
#: Places of responses that a database can be asked for.
MOST_RESPONSES = 10**9


class RefusedError(Exception):
    """What cannot be shown or done, with the status of the answer."""

    def __init__(self, said: str, status: int = 403) -> None:
        super().__init__(said)
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A request of somebody who signed in. `form`: field -> value."""

    request: Request
    name: str
    form: Mapping[str, str]

    @property
    def fragment(self) -> bool:
        """Whether htmx asks, and takes the changed part alone."""
        return _asks_in_part(self.request)

    @property
    def position(self) -> int:
        """The place of the response that is asked for.

        Raises:
            RefusedError: there can be none.
        """
        position = int(self.request.path_params["position"])
        if position > MOST_RESPONSES:
            raise RefusedError("There is no such page.", 404)
        return position


def application(project: Project, access: AccessControl, *, blind: bool = False) -> Guarded:
    """The application of a project. `blind`: what the machine found is not shown to annotators."""
    return Guarded(Pages(project, access, blind).app, access)


class Pages:
    """The pages and what their forms do."""

    def __init__(self, project: Project, access: AccessControl, blind: bool) -> None:
        self.project = project
        self.store = project.store
        self.access = access
        self.blind = blind
        signed_in = self._signed_in
        self.app = Starlette(
            routes=[
                Route("/", self._explain_errors(self._front)),
                Route("/sign-in", self._explain_errors(self._sign_in), methods=["POST"]),
                Route("/sign-out", signed_in(self._sign_out), methods=["POST"]),
                Route("/guide", signed_in(self._guide)),
                Route("/next", signed_in(self._next)),
                Route("/responses/{position:int}/{screen}", signed_in(self._response)),
                Route("/responses/{position:int}/{screen}", signed_in(self._step), methods=["POST"]),
                Route("/adjudicate", signed_in(self._differing)),
                Route("/adjudicate/{position:int}", signed_in(self._adjudication)),
                Route("/adjudicate/{position:int}", signed_in(self._decision), methods=["POST"]),
                Route("/static/{name}", self._static),
            ],
        )

    # Who asks.

    def _signed_in(self, answer: Callable[[Asked], Response]) -> Callable[[Request], Any]:
        """The page for somebody who signed in; others are led to the front page, a form without its token nowhere."""

        async def answering(request: Request) -> Response:
            name = self._name(request)
            if name is None:
                return self._redirect("/", in_part=_asks_in_part(request))
            form = await fields_of(request) if request.method == "POST" else {}
            if request.method == "POST" and not self.access.is_form_token(form.get("form_token", ""), name):
                raise RefusedError("The form is old. Load the page again.")
            return await run_in_threadpool(answer, Asked(request, name, form))

        return self._explain_errors(answering)

    def _explain_errors(self, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
        """What cannot be done is told on a page."""

        async def answering(request: Request) -> Response:
            try:
                found: Response = await answer(request)
                return found
            except ClientDisconnect:
                said, status = "That is too long.", 413
            except RefusedError as refused:
                said, status = str(refused), refused.status
            except InputError as error:
                said, status = f"Nothing was saved. {error}", 500
            name = self._name(request) or ""
            # Of a damaged database not even who adjudicates can be asked.
            part = _asks_in_part(request)
            return self._page("refused.html", name, said=said, status=status, fragment=part, adjudicates=False)

        return answering

    def _name(self, request: Request) -> str | None:
        return self.access.name_in(cookies(request.headers).get(self.access.cookies[1], ""))

    async def _front(self, request: Request) -> Response:
        name = self._name(request)
        if name is None:
            return self._page("sign_in.html", "", names=self.store.annotators(), said="")
        return await run_in_threadpool(self._queue, name)

    async def _sign_in(self, request: Request) -> Response:
        form = await fields_of(request)
        name = " ".join(readable(form.get("name", "")).split())
        if not name or len(name) > LONGEST_NAME or shown(name) != name:
            said = f"A name has 1 to {LONGEST_NAME} characters that can be seen."
            return self._page("sign_in.html", "", names=self.store.annotators(), said=said, status=400)
        await run_in_threadpool(self.store.join, name)
        answer = RedirectResponse("/", status_code=303)
        set_cookie(answer, self.access.cookies[1], self.access.signed(name))
        return answer

    def _sign_out(self, asked: Asked) -> Response:
        answer = RedirectResponse("/", status_code=303)
        answer.delete_cookie(self.access.cookies[1], path="/")
        return answer

    # The pages.

    def _queue(self, name: str) -> Response:
        """What somebody has done, what is theirs to go on with, and how far all are."""
        progress = self.store.progress()
        wanted = self.store.wanted()
        mine = [one for one in progress if one.annotator == name and one.role == ANNOTATE]
        finished = [one for one in progress if one.role == ANNOTATE and one.finished]
        return self._page(
            "queue.html",
            name,
            title=f"Queue of {name}",
            mine=mine,
            total=sum(wanted.values()),
            finished=len(finished),
            responses=len(wanted),
            minutes=sum(one.seconds for one in mine) / 60,
            others=_by_name(progress),
            left=any(not one.finished for one in mine) or self.store.free_task(name) is not None,
        )

    def _guide(self, asked: Asked) -> Response:
        from markdown_it import MarkdownIt
        from markupsafe import Markup

        # Without HTML of its own; its links are checked, its pictures are shut out by the policy.
        written = MarkdownIt("commonmark", {"html": False}).enable("table").render(shown(self.project.guide()))
        return self._page("guide.html", asked.name, title="Guide", guide=Markup(written), labels=views.labels_view())

    def _next(self, asked: Asked) -> Response:
        position = self.store.next_task(asked.name)
        return RedirectResponse("/" if position is None else f"/responses/{position}/{CLAIMS}", status_code=303)

    def _response(self, asked: Asked) -> Response:
        task = self._task(asked)
        self.store.begin(asked.position, asked.name)
        work = self.store.work(asked.position, asked.name)
        return self._work_page(asked, task, work, wanted=asked.request.query_params.get("claim", ""))

    def _step(self, asked: Asked) -> Response:
        """Makes the step of a form, and shows what came of it."""
        task = self._task(asked)
        return self._make_step(
            asked, task, ANNOTATE, lambda work, step, said: self._work_page(asked, task, work, made=step, said=said)
        )

    def _differing(self, asked: Asked) -> Response:
        self._may_adjudicate(asked)
        rows = []
        for position, task_id, names in self.store.finished_by_several():
            items = items_of(self.store.finished_works(position))
            work = self.store.work(position, asked.name, ADJUDICATE)
            rows.append(
                {
                    "position": position,
                    "id": task_id,
                    "names": names,
                    "differ": sum(item.differs for item in items),
                    "open": len(work.open),
                    "done": self.store.adjudicators(position),
                }
            )
        return self._page("differing.html", asked.name, title="Adjudicate", rows=rows)

    def _adjudication(self, asked: Asked) -> Response:
        task = self._adjudicated_task(asked)
        self.store.begin(asked.position, asked.name, ADJUDICATE)
        work = self.store.work(asked.position, asked.name, ADJUDICATE)
        return self._adjudication_page(asked, task, work, wanted=asked.request.query_params.get("claim", ""))

    def _decision(self, asked: Asked) -> Response:
        task = self._adjudicated_task(asked)

        def answer(work: Work, step: Step | None, said: str) -> Response:
            return self._adjudication_page(asked, task, work, made=step, said=said)

        return self._make_step(asked, task, ADJUDICATE, answer)

    async def _static(self, request: Request) -> Response:
        found = static_files().get(request.path_params["name"])
        if found is None:
            return Response(status_code=404)
        return Response(found[0], media_type=found[1], headers={"cache-control": "max-age=3600"})

    # What the pages share.

    def _task(self, asked: Asked) -> AnnotationTask:
        """The response that is asked for, if it is somebody's to annotate."""
        task = self.store.task(asked.position)
        if task is None or asked.request.path_params["screen"] not in (CLAIMS, JUDGE):
            raise RefusedError("There is no such page.", 404)
        if not self.store.may_annotate(asked.position, asked.name):
            raise RefusedError("Enough people have this response already. Your queue has another.")
        return task

    def _adjudicated_task(self, asked: Asked) -> AnnotationTask:
        self._may_adjudicate(asked)
        task = self.store.task(asked.position)
        works = self.store.finished_works(asked.position)
        if task is None or len(works) < 2:
            raise RefusedError("Two people must have finished this response before somebody decides between them.", 404)
        if asked.name in works:
            raise RefusedError("You annotated this response yourself; somebody else decides.")
        return task

    def _adjudicates(self, name: str) -> bool:
        named = self.store.facts().get("adjudicators")
        return not named or (isinstance(named, list) and name in named)

    def _may_adjudicate(self, asked: Asked) -> None:
        if not self._adjudicates(asked.name):
            raise RefusedError("Adjudicators were named when the server was started, and you are not among them.")

    def _make_step(
        self, asked: Asked, task: AnnotationTask, role: str, answer: Callable[[Work, Step | None, str], Response]
    ) -> Response:
        """Makes the step that a form describes; one upon an older version is shown beside what was done since."""
        version, key = asked.form.get("version", ""), asked.form.get("key", "")
        if not (version.isdecimal() and len(version) < 10 and 0 < len(key) <= 64):
            raise RefusedError("That is no form of this page.", 400)
        before = self.store.work(asked.position, asked.name, role)
        try:
            step = step_of(asked.form, task)
            work = self.store.make(asked.position, asked.name, step, version=int(version), key=key, role=role)
        except MisfitError as misfit:
            return answer(before, None, f"Not done: {misfit}")
        except BehindError as behind:
            numbers = {claim.id: number for number, claim in enumerate(before.claims, start=1)}
            return self._page(
                "behind.html",
                asked.name,
                fragment=asked.fragment,
                status=409,
                since=[views.words_of(one, numbers) for one in behind.since],
                wanted=views.words_of(step, numbers),
                fields={name: value for name, value in asked.form.items() if name not in ("version", "key", "form_token")},
                version=before.version,
                key=secrets.token_hex(8),
                here=asked.request.url.path,
            )
        if step.kind is StepKind.FINISH:
            return self._redirect("/next" if role == ANNOTATE else "/adjudicate", in_part=asked.fragment)
        if not asked.fragment:
            goes_on = step.kind in (StepKind.JUDGE, StepKind.DECIDE)
            query = "" if goes_on else f"?{urlencode({'claim': step.claim})}"
            return RedirectResponse(asked.request.url.path + query, status_code=303)
        numbers = {claim.id: number for number, claim in enumerate(work.claims, start=1)}
        return answer(work, step, f"Saved: {views.words_of(step, numbers)}.")

    def _redirect(self, where: str, *, in_part: bool) -> Response:
        return Response(headers={"hx-redirect": where}) if in_part else RedirectResponse(where, status_code=303)

    def _work_page(
        self, asked: Asked, task: AnnotationTask, work: Work, *, wanted: str = "", made: Step | None = None, said: str = ""
    ) -> Response:
        """One of the two screens of a response. `made`: the step that led here."""
        screen = str(asked.request.path_params["screen"])
        judging = screen == JUDGE
        stays = made is None or made.kind in (StepKind.COMMENT, StepKind.REVISE, StepKind.PLACE, StepKind.RESTORE)
        after = asked.form.get("claim", "") if made is None else made.claim
        current = views.current_claim(work, wanted or (after if stays or not judging else ""), after, judging=judging)
        listed = list(work.standing if judging else work.claims)
        before, behind = views.neighbours(listed, current)
        numbers = {claim.id: number for number, claim in enumerate(work.claims, start=1)}
        return self._page(
            f"{screen}.html",
            asked.name,
            fragment=asked.fragment,
            title=f"{task.id}: {'judge the claims' if judging else 'the claims'}",
            task=task,
            position=asked.position,
            screen=screen,
            here=f"/responses/{asked.position}/{screen}",
            text=views.text_view(task, work.standing),
            standing=[views.claim_view(claim, numbers[claim.id], blind=self.blind) for claim in work.standing],
            claims=[views.claim_view(claim, numbers[claim.id], blind=self.blind) for claim in listed],
            current=None if current is None else views.claim_view(current, numbers[current.id], blind=self.blind),
            evidence=views.evidence_view(task, current.machine if current else None, blind=self.blind),
            others=views.others_view(task, current.machine if current else None),
            search=views.search_link(task, current.text) if current else "",
            before=before,
            behind=behind,
            work=work,
            labels=views.labels_view(),
            removals=[one.value for one in Removal],
            new_claim=f"{asked.name}-{secrets.token_hex(4)}",
            key=secrets.token_hex(8),
            said=said,
            # What was typed into a form that was refused stays there.
            typed=dict.fromkeys(("kind", "claim", "text", "quote"), "") | (dict(asked.form) if made is None else {}),
        )

    def _adjudication_page(
        self, asked: Asked, task: AnnotationTask, work: Work, *, wanted: str = "", made: Step | None = None, said: str = ""
    ) -> Response:
        items = {item.id: item for item in items_of(self.store.finished_works(asked.position))}
        differing = [claim for claim in work.claims if items[claim.id].differs]
        after = asked.form.get("claim", "") if made is None else made.claim
        current = next((claim for claim in differing if claim.id == wanted), None)
        current = current or views.current_claim(work.model_copy(update={"claims": tuple(differing)}), "", after, judging=True)
        current = current or next(iter(differing), None)
        item: Item | None = items[current.id] if current is not None else None
        before, behind = views.neighbours(differing, current)
        numbers = {claim.id: number for number, claim in enumerate(work.claims, start=1)}
        return self._page(
            "adjudicate.html",
            asked.name,
            fragment=asked.fragment,
            title=f"{task.id}: adjudicate",
            task=task,
            position=asked.position,
            here=f"/adjudicate/{asked.position}",
            text=views.text_view(task, work.standing),
            standing=[views.claim_view(claim, numbers[claim.id], blind=self.blind) for claim in work.standing],
            claims=[views.claim_view(claim, numbers[claim.id], blind=self.blind) for claim in differing],
            agreed=len(work.claims) - len(differing),
            current=None if current is None else views.claim_view(current, numbers[current.id], blind=self.blind),
            versions=[] if item is None else views.item_view(item),
            digest="" if item is None else item.digest,
            evidence=views.evidence_view(task, item.first.machine if item else None, blind=self.blind),
            others=views.others_view(task, item.first.machine if item else None),
            search=views.search_link(task, current.text) if current else "",
            before=before,
            behind=behind,
            work=work,
            labels=views.labels_view(),
            removals=[one.value for one in Removal],
            key=secrets.token_hex(8),
            said=said,
        )

    def _page(
        self, template: str, name: str, *, status: int = 200, fragment: bool = False, title: str = "Annotation", **values: Any
    ) -> HTMLResponse:
        """A page, or its main part alone, where htmx asks for that."""
        values = {
            "main": template,
            "title": title,
            "name": name,
            "form_token": self.access.form_token(name),
            "blind": self.blind,
            "marks": MARKS,
            "longest": LONGEST_TEXT,
            **values,
        }
        if "adjudicates" not in values:
            values["adjudicates"] = bool(name) and self._adjudicates(name)
        made = environment().get_template(template if fragment else "shell.html")
        return HTMLResponse(made.render(values), status_code=status)


def _by_name(progress: Any) -> list[dict[str, Any]]:
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


def _asks_in_part(request: Request) -> bool:
    """Whether htmx asks, and takes the changed part alone."""
    return "hx-request" in request.headers

"""The pages on which people work: the two screens of a response, and adjudication; and the steps that their forms make."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from localfact.annotation import views
from localfact.annotation.differences import items_of
from localfact.annotation.forms import Asked, RefusedError, step_of
from localfact.annotation.steps import Step, StepKind
from localfact.annotation.store import ADJUDICATE, ANNOTATE, AnnotationStore, BehindError, MisfitError
from localfact.annotation.tasks import AnnotationTask
from localfact.annotation.templates import Renderer
from localfact.annotation.work import Work, WorkClaim

CLAIMS, JUDGE = "claims", "judge"
#: Fields that every form has by itself.
OF_EVERY_FORM = frozenset({"version", "key", "form_token", "kind", "claim"})


@dataclass(frozen=True)
class Screens:
    """What the pages show, and what their forms do."""

    renderer: Renderer

    @property
    def store(self) -> AnnotationStore:
        """The store of the work that is shown and changed."""
        return self.renderer.store

    def response(self, asked: Asked) -> Response:
        """One of the two screens of a response."""
        task = self._task(asked)
        self.store.begin(asked.position, asked.name)
        return self._work_page(asked, task, self.store.work(asked.position, asked.name))

    def step(self, asked: Asked) -> Response:
        """Stores what a person sent with a form of a task, and returns the task's page as it is now."""
        task = self._task(asked)
        return self._make_step(asked, task, ANNOTATE, lambda work, made, said: self._work_page(asked, task, work, made, said))

    def differing(self, asked: Asked) -> Response:
        """The responses that several people finished."""
        self._may_adjudicate(asked)
        rows = [
            {
                "position": position,
                "id": task_id,
                "names": names,
                "differ": sum(item.differs for item in items_of(self.store.works_finished(position))),
                "open": len(self.store.work(position, asked.name, ADJUDICATE).open),
                "done": self.store.adjudicators(position),
            }
            for position, task_id, names in self.store.responses_finished_by_several()
        ]
        return self.renderer.page("differing.html", asked.name, title="Adjudicate", rows=rows)

    def adjudication(self, asked: Asked) -> Response:
        """The claims of a response on which people differ."""
        task = self._task_to_adjudicate(asked)
        self.store.begin(asked.position, asked.name, ADJUDICATE)
        return self._adjudication_page(asked, task, self.store.work(asked.position, asked.name, ADJUDICATE))

    def decision(self, asked: Asked) -> Response:
        """Makes the step of a form of that page, and shows what came of it."""
        task = self._task_to_adjudicate(asked)
        return self._make_step(
            asked, task, ADJUDICATE, lambda work, made, said: self._adjudication_page(asked, task, work, made, said)
        )

    def _task(self, asked: Asked) -> AnnotationTask:
        """The response that is asked for, if it is somebody's to annotate."""
        task = self.store.task(asked.position)
        if task is None or asked.request.path_params["screen"] not in (CLAIMS, JUDGE):
            raise RefusedError("There is no such page.", 404)
        if not self.store.may_annotate(asked.position, asked.name):
            raise RefusedError("Enough people have this response already. Your queue has another.")
        return task

    def _task_to_adjudicate(self, asked: Asked) -> AnnotationTask:
        self._may_adjudicate(asked)
        task = self.store.task(asked.position)
        works = self.store.works_finished(asked.position)
        if task is None or len(works) < 2:
            raise RefusedError("Two people must have finished this response before somebody decides between them.", 404)
        if asked.name in works:
            raise RefusedError("You annotated this response yourself; somebody else decides.")
        return task

    def _may_adjudicate(self, asked: Asked) -> None:
        if not self.renderer.adjudicates(asked.name):
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
            return self.renderer.page(
                "behind.html",
                asked.name,
                fragment=asked.fragment,
                status=409,
                since=[views.words_of(one, before.numbers) for one in behind.since],
                wanted=views.words_of(step, before.numbers),
                kind=step.kind,
                claim=step.claim,
                values={name: value for name, value in asked.form.items() if name not in OF_EVERY_FORM},
                work=before,
                here=asked.request.url.path,
            )
        if step.kind is StepKind.FINISH:
            return redirect("/next" if role == ANNOTATE else "/adjudicate", in_part=asked.fragment)
        if not asked.fragment:
            goes_on = step.kind in (StepKind.JUDGE, StepKind.DECIDE)
            query = "" if goes_on else f"?{urlencode({'claim': step.claim})}"
            return RedirectResponse(asked.request.url.path + query, status_code=303)
        return answer(work, step, f"Saved: {views.words_of(step, work.numbers)}.")

    def _work_page(self, asked: Asked, task: AnnotationTask, work: Work, made: Step | None = None, said: str = "") -> Response:
        """One of the two screens of a response. `made`: the step that led here."""
        screen = str(asked.request.path_params["screen"])
        judging = screen == JUDGE
        stays = made is None or made.kind in (StepKind.COMMENT, StepKind.REVISE, StepKind.PLACE, StepKind.RESTORE)
        wanted, after = _claims_named(asked, made)
        listed = work.standing if judging else work.claims
        current = views.current_claim(work, listed, wanted or (after if stays or not judging else ""), after, judging=judging)
        return self._screen(
            f"{screen}.html",
            asked,
            task,
            work,
            said,
            listed=listed,
            current=current,
            title=f"{task.id}: {'judge the claims' if judging else 'the claims'}",
            here=f"/responses/{asked.position}/{screen}",
            new_claim=f"{asked.name}-{secrets.token_hex(4)}",
            # What was typed into a form that was refused stays there.
            typed=dict.fromkeys(("kind", "claim", "text", "quote"), "") | (dict(asked.form) if made is None else {}),
        )

    def _adjudication_page(
        self, asked: Asked, task: AnnotationTask, work: Work, made: Step | None = None, said: str = ""
    ) -> Response:
        items = {item.id: item for item in items_of(self.store.works_finished(asked.position))}
        differing = tuple(claim for claim in work.claims if items[claim.id].differs)
        wanted, after = _claims_named(asked, made)
        current = views.current_claim(work, differing, wanted, after)
        item = items[current.id] if current is not None else None
        return self._screen(
            "adjudicate.html",
            asked,
            task,
            work,
            said,
            listed=differing,
            current=current,
            title=f"{task.id}: adjudicate",
            here=f"/adjudicate/{asked.position}",
            agreed=len(work.claims) - len(differing),
            item=item,
        )

    def _screen(
        self,
        template: str,
        asked: Asked,
        task: AnnotationTask,
        work: Work,
        said: str,
        *,
        listed: Sequence[WorkClaim],
        current: WorkClaim | None,
        **values: Any,
    ) -> Response:
        """A page with a response, a list of claims, and one of them with the evidence that the machine has of it."""
        machine = None if current is None else current.source
        before, behind = views.neighbours(listed, current)
        return self.renderer.page(
            template,
            asked.name,
            fragment=asked.fragment,
            task=task,
            position=asked.position,
            text=views.text_view(task, work.standing),
            claims=listed,
            current=current,
            evidence=views.evidence_view(task, machine, blind=self.renderer.blind),
            others=views.others_view(task, machine),
            search=views.search_link(task, current.text) if current else "",
            before=before,
            behind=behind,
            work=work,
            numbers=work.numbers,
            said=said,
            **values,
        )


def _claims_named(asked: Asked, made: Step | None) -> tuple[str, str]:
    """Ids of the claim that an address asks for, and of the one that was worked on just now; "" for none."""
    wanted = asked.request.query_params.get("claim", "") if asked.request.method != "POST" else ""
    return wanted, asked.form.get("claim", "") if made is None else made.claim


def redirect(where: str, *, in_part: bool) -> Response:
    """Leads a browser to another page. `in_part`: whether htmx asks."""
    return Response(headers={"hx-redirect": where}) if in_part else RedirectResponse(where, status_code=303)

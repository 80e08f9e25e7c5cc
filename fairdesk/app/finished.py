"""Finished full audits of the built-in samples, with their reports: to look around in.

They are made where they are used, once: an audit names the files that it is about, and its format
is that of the program that made it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from fairdesk.app.audit import Question, audit
from fairdesk.app.outputs import REPORT
from fairdesk.app.standard import StandardPlan
from fairdesk.audit.runs.inspection import Subject
from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, ReportError, system_errors
from fairdesk.samples import Sample


def sample_question(sample: Sample) -> Question:
    """Return the question of a full audit of a sample and its first model."""
    return Question(
        Subject(
            data=sample.data_path,
            model=sample.model_path(sample.models[0]),
            label=sample.label,
            favourable=sample.favourable,
        ),
        protected=sample.protected,
        runs=(),
        title=sample.title,
        person=sample.person,
        standard=StandardPlan(options={"maft": sample.options}),
    )


def finish(
    sample: Sample,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool],
    make_worker: Callable[[], Worker] = Worker,
) -> Path | None:
    """Make the finished audit of a sample, with its report.

    One that is there already, and cannot be opened by this version, is kept beside it.

    Parameters
    ----------
    watch, stopped
        As of `fairdesk.app.audit.audit`.

    Returns
    -------
    Path, optional
        The audit; ``None`` when it was stopped: then nothing is left.

    Raises
    ------
    FairDeskError
        When it cannot be made.
    """
    place = sample.finished.parent
    what = f"The finished audit of the sample “{sample.title}” cannot be made."
    remedy = "Try again later, or start a new audit of the sample."
    with system_errors(ReportError, what, remedy):
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f"{sample.key}-", dir=place.parent))
    try:
        with closing(make_worker()) as worker:
            question = msgspec.structs.replace(sample_question(sample), files=(REPORT,))
            outcome = audit(worker, question, draft, watch, stopped)
        if stopped():
            return None
        failed = [run.message for run in outcome.runs if run.state == "failed"]
        if trouble := next(iter(failed), outcome.trouble):
            raise FairDeskError(what, why=trouble, remedy=remedy)
        with system_errors(ReportError, what, remedy):
            if place.exists():
                place.rename(_free(place))
            draft.rename(place)
        return sample.finished
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _free(place: Path) -> Path:
    """Return a name beside a folder that is not taken."""
    number = 1
    while (other := place.with_name(f"{place.name}-earlier-{number}")).exists():
        number += 1
    return other

"""Audits of the built-in samples: their question, and the report of the finished ones."""

from __future__ import annotations

from pathlib import Path

from fairdesk.app.audit import Question
from fairdesk.app.standard import StandardPlan
from fairdesk.audit.runs.inspection import Subject
from fairdesk.audit.store.store import Store
from fairdesk.report.document import write_pdf
from fairdesk.samples import Sample, own_finished


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


def finished_report(sample: Sample) -> Path:
    """Return the report of the user's copy of a finished audit, made where there is none.

    The audit is only read.

    Raises
    ------
    FairDeskError
        When it cannot be made.
    """
    report = sample.finished_report
    if not report.is_file():
        with Store.read(own_finished(sample)) as store:
            write_pdf(store, report)
    return report

"""The cards that go with what a repair exports: of the data, and of the retrained model.

Their texts stand in ``*.md.j2`` beside this; lines of a paragraph there become one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import ModelFile, RunRecord
from fairdesk.document.mitigation import before_after
from fairdesk.report.provenance.manifest import ExportOf
from fairdesk.report.sections.methods_and_formulas import option_rows
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.trials import source_of_labels
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words
from fairdesk.wording.rules import rule_phrase

if TYPE_CHECKING:
    from jinja2 import Environment

#: What has a meaning of its own in Markdown, or in the HTML that it becomes.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")
#: A line that goes on with the paragraph above it: no row of a table, item or heading.
_GOES_ON = re.compile(r"(?<!\n)\n(?!\n|\| |\|-|\* |#)")
#: Options that speak of networks only.
_OF_NETWORKS = ("start", "optimiser", "epochs", "batch", "patience")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, slots=True)
class Exported:
    """What the cards tell about.

    Attributes
    ----------
    spec : AuditSpec
        The audit's question.
    run : RunRecord
        The repair.
    repair : Repair
        What it came to.
    trial : Trial
        The one that is exported.
    labels : dict[str, int]
        Added rows by their label.
    pairs : int
        Discriminatory pairs that added rows are of.
    like : tuple[str, ...]
        The columns that no attribute knows.
    there : bool
        Whether the data file was there, as it was read.
    inside : bool
        Whether the files tell in columns of their own where each row comes from.
    files : tuple[ExportOf, ...]
        The files of data.
    models : dict[str, ModelFile]
        The files of the model, and why others are missing.
    model_files : tuple[ExportOf, ...]
        Those that were written.
    """

    spec: AuditSpec
    run: RunRecord
    repair: Repair
    trial: Trial
    labels: dict[str, int]
    pairs: int
    like: tuple[str, ...]
    there: bool
    inside: bool
    files: tuple[ExportOf, ...]
    models: dict[str, ModelFile]
    model_files: tuple[ExportOf, ...]


def card(name: Literal["dataset-card", "model-card"], exported: Exported) -> str:
    """Write the card of the data or of the retrained model, as Markdown.

    That of a model is not for a trial of which no model is kept.
    """
    values = _of_data(exported) if name == "dataset-card" else _of_model(exported)
    text = _templates().get_template(f"{name}.md.j2").render(_of_both(exported), **values)
    paragraphs = re.sub(r" *\n(?: *\n)+", "\n\n", text)
    return f"{_GOES_ON.sub(' ', paragraphs).strip()}\n"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # noqa: S701 - Markdown, in which the filter takes marks for text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plain": plainly, "cells": _cells, "number": words.number}
    return made


def plainly(text: str) -> str:
    """Keep a text from being read as Markdown: each mark has a backslash before it."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _cells(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    return [[*map(plainly, row)] for row in rows]


def _of_both(exported: Exported) -> Mapping[str, object]:
    """Return the values of both cards."""
    spec, run, repair, trial = exported.spec, exported.run, exported.repair, exported.trial
    network = spec.model.format.startswith("Keras")
    return {
        "e": exported,
        "spec": spec,
        "run": run,
        "repair": repair,
        "trial": trial,
        "network": network,
        "method": method_named(run.spec.method),
        "headline": mitigation_words.headline(spec, run.figures).sentence,
        "trial_name": trial_words.trial_name(trial),
        "labels_from": mitigation_words.labels_sentence(source_of_labels(repair)),
        "caveats": [*map(plainly, (mitigation_words.worse_sentence(trial), *repair.notes))],
        "versions": ", ".join(f"{name} {version}" for name, version in spec.versions.items()),
        "settings": [
            ("`seed`", str(run.spec.seed), "the random seed"),
            *(
                (f"`{name}`", plainly(value), plainly(about))
                for name, value, about in option_rows(run)
                if network or name not in _OF_NETWORKS
            ),
        ],
    }


def _of_data(exported: Exported) -> Mapping[str, object]:
    spec, dialect = exported.spec, exported.spec.data.dialect
    added, named = sum(exported.labels.values()), set(spec.domain.names)
    tokens = sorted({column.missing_token for column in spec.columns if column.missing})

    def filled(name: str) -> str:
        if name == spec.label:
            return "the assigned label"
        return "as generated" if name in named else "as in the nearest data row"

    return {
        "added": added,
        "added_rows": words.counted(added, "row"),
        "whole": spec.data.rows + added,
        "data_name": PurePath(spec.data.path).name,
        "rule": rule_phrase(spec, exported.run.spec.rule),
        "pairs": words.counted(exported.pairs, "discriminatory pair"),
        "people": words.plural(spec.person),
        "labels": [(plainly(each), words.number(n)) for each, n in exported.labels.items()],
        "dialect": dialect,
        "delimiter": _DELIMITERS.get(dialect.delimiter, f"“{plainly(dialect.delimiter)}”"),
        "tokens": tokens,
        "columns": [(plainly(each.name), filled(each.name)) for each in spec.columns],
        "like": words.listed(exported.like),
    }


def _of_model(exported: Exported) -> Mapping[str, object]:
    spec, run, trial = exported.spec, exported.run, exported.trial
    options: Any = parse_options(run.spec.method, run.spec.options)
    more = f" and {words.number(trial.added)} augmentation rows" if trial.added else ""
    return {
        "options": options,
        "model_name": PurePath(spec.model.path).name,
        "favourable": spec.decisions[spec.mapping.favourable_class],
        "trained_on": f"on {words.counted(exported.repair.train, 'row')}{more}",
        "split": mitigation_words.split_sentence(spec, exported.repair),
        "grids": before_after(run, trial.number),
        "checks": [
            f"{name if file.size else f'No {name}'}: {plainly(file.remark)}"
            for name, file in exported.models.items()
        ],
    }

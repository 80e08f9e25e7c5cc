"""The cards that go with what a repair exports: of the data, and of the retrained model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import ModelFile, RunRecord
from fairdesk.report.sections.methods_and_formulas import option_rows
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.trials import source_of_labels
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words
from fairdesk.wording.rules import rule_phrase

#: What has a meaning of its own in Markdown, or in the HTML that it becomes.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")
#: Options that speak of networks only.
_OF_NETWORKS = ("start", "optimiser", "epochs", "batch", "patience")
_NO_LAW = (
    "FairDesk measures. It has not checked this against any law or standard; whether it may be "
    "used is for those to decide who answer for it."
)
_EXACT = (
    "Train with a file that is exact. The one for spreadsheets is for reading: in it, a text that "
    "a spreadsheet would run as a formula has an apostrophe before it."
)
_DATA_IS_FOR = (
    "To train the audited model, or one for the same purpose, again, in the same way as before. "
    "The rows that were there are all in it, also those that FairDesk tested on: test a model that "
    "is trained with it on other rows, that are real."
)
_MIND_DATA = (
    "What is unfair in the labels that were there stays in them.",
    "Nobody knows which label would be right for somebody invented.",
    "Whether the added rows help another model than the one that was measured is not known.",
)
_READING = (
    "In brackets are 95 % intervals. “Nothing added” is the same model, trained again on the same "
    "rows without the added ones; the change is from that. The model as imported may have seen the "
    "test rows, which would flatter it."
)
_MODEL_IS_FOR = (
    "To take the place of the audited model, for the same purpose and on inputs made in the same "
    "way, after those who answer for it have looked at what changed."
)
_MIND_MODEL = (
    "It was measured on rows of the same data. On other people it may fare otherwise.",
    "Another group may fare worse than before: audit this model anew before it is used.",
    "Estimated shares are of people invented at random, not of those whom it will decide about.",
)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was exported: its name, what it is, its SHA-256 and its bytes."""

    name: str
    what: str
    sha256: str
    size: int


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
    files : tuple[WrittenFile, ...]
        The files of data.
    models : dict[str, ModelFile]
        The files of the model, and why others are missing.
    model_files : tuple[WrittenFile, ...]
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
    files: tuple[WrittenFile, ...]
    models: dict[str, ModelFile]
    model_files: tuple[WrittenFile, ...]

    @property
    def added(self) -> int:
        """How many rows were added."""
        return sum(self.labels.values())


def data_card(exported: Exported) -> str:
    """Write the card of the data: what was added and why, which file is which, what to mind."""
    spec, run, repair = exported.spec, exported.run, exported.repair
    source = spec.data
    name = plainly(PurePath(source.path).name)
    people = words.plural(spec.person)
    invented = (
        f"The added {people} are invented. They were sought, not drawn: take no rates from them, "
        "and count them in no statistic."
    )
    return _joined(
        f"# Data to train with: {plainly(spec.title)}",
        f"{words.number(source.rows + exported.added)} rows: the {words.number(source.rows)} of "
        f"“{name}” and {words.number(exported.added)} that FairDesk added. {_NO_LAW}",
        "## What was added, and why",
        # what was not done is not told
        f"{method_named(run.spec.method).sentence} {_about(exported)}"
        if repair.retrains
        else _about(exported),
        _outcome(exported),
        mitigation_words.labels_sentence(source_of_labels(repair)),
        _table(
            (plainly(spec.label), "Rows added"),
            [(plainly(label), words.number(count)) for label, count in exported.labels.items()],
        ),
        "## Files",
        _file_table(exported.files),
        f"The data file that was audited, “{name}”, has the SHA-256 `{source.sha256}`.",
        _EXACT,
        _manner(exported),
        "## Columns",
        _columns(exported),
        "## Where each row comes from",
        _origins(exported),
        "## What it is for",
        _DATA_IS_FOR,
        "## What to mind",
        _bullets(
            *(invented, *_MIND_DATA, _copied(exported)),
            *map(plainly, (_worse(exported), *repair.notes)),
        ),
        "## Made with",
        *_made_with(exported),
    )


def model_card(exported: Exported) -> str:
    """Write the card of the retrained model: what it is, how it fares, how its files were checked.

    Not for a trial of which no model is kept.
    """
    spec, run, repair = exported.spec, exported.run, exported.repair
    decisions = " or ".join(f"“{plainly(each)}”" for each in spec.decisions)
    good = plainly(spec.decisions[spec.mapping.favourable_class])
    checks = (
        f"{name if file.size else f'No {name}'}: {plainly(file.remark)}"
        for name, file in exported.models.items()
    )
    file = plainly(PurePath(spec.model.path).name)
    before_after = mitigation_words.before_after(spec, run.figures, exported.trial.number)
    return _joined(
        f"# Retrained model: {plainly(spec.title)}",
        f"{_outcome(exported)} {_NO_LAW}",
        "## What it is",
        f"{plainly(spec.model.format)}: {plainly(spec.model.summary.rstrip('.'))}. It decides "
        f"{decisions}; “{good}” is favourable. It is “{file}” (SHA-256 `{spec.model.sha256}`), "
        "trained again.",
        "## How it was trained",
        f"{_training(exported)} {mitigation_words.split_sentence(spec, repair)}",
        mitigation_words.labels_sentence(source_of_labels(repair)),
        "## Before and after",
        _table(mitigation_words.BEFORE_AFTER, [tuple(map(plainly, row)) for row in before_after]),
        _READING,
        "## Files",
        _file_table(exported.model_files),
        _bullets(*checks),
        _trusted(exported),
        "## What it is for",
        _MODEL_IS_FOR,
        "## What to mind",
        _bullets(*_MIND_MODEL, *map(plainly, (_worse(exported), *repair.notes))),
        "## Made with",
        *_made_with(exported),
    )


def plainly(text: str) -> str:
    """Keep a text from being read as Markdown: each mark has a backslash before it."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _about(exported: Exported) -> str:
    trial, repair = exported.trial, exported.repair
    rows = words.counted(exported.added, "row")
    if repair.target == "rule_score":
        rule = plainly(rule_phrase(exported.spec, exported.run.spec.rule))
        return f"{rows} were added, samples of a rule set: {rule}."
    of = words.counted(exported.pairs, "discriminatory pair")
    if not trial.percent:
        return f"{rows} were added: the people of {of}."
    whole = exported.spec.data.rows + exported.added
    return (
        f"{rows} were added, the people of {of}. That is {trial.percent:.3g} % of the "
        f"{words.number(repair.train)} rows that the measured model was trained with, and "
        f"{100 * exported.added / whole:.3g} % of the rows of this file, which has all of yours."
    )


def _outcome(exported: Exported) -> str:
    """Say what came of the repair, or that another model than the chosen one is exported."""
    trial, repair = exported.trial, exported.repair
    if not repair.retrains or trial.number == repair.chosen:
        return plainly(mitigation_words.headline(exported.spec, exported.run.figures).sentence)
    name = plainly(mitigation_words.trial_name(trial))
    if repair.chosen < 0:
        return (
            f"**No portion was shown to help.** What is exported is what the auditor picked, or "
            f"else the one that left least to repair: {name}. Read before-after.csv before "
            "anybody trains with it."
        )
    return (
        f"This is not the model that FairDesk chose, but one that the auditor picked: {name}. How "
        "it fares is told in before-after.csv."
    )


def _worse(exported: Exported) -> str:
    """Say what the exported trial made worse."""
    return mitigation_words.worse_sentence(exported.spec, exported.run.figures, exported.trial)


def _manner(exported: Exported) -> str:
    """Say how the exact files are written."""
    dialect = exported.spec.data.dialect
    delimiter = {",": "commas", ";": "semicolons", "\t": "tabs"}.get(
        dialect.delimiter, f"“{plainly(dialect.delimiter)}”"
    )
    tokens = {column.missing_token for column in exported.spec.columns if column.missing}
    missing = " or ".join(
        f"“{plainly(token)}”" if token else "an empty cell" for token in sorted(tokens)
    )
    sentence = (
        f"The exact CSV file is written as the data are: columns separated by {delimiter}, decimal "
        f"{'point' if dialect.decimal == '.' else 'comma'}, {dialect.encoding}, "
        f"{'a first row of names' if dialect.header else 'no row of names'}"
        + (f"; {missing} for what is missing." if missing else ".")
    )
    if not exported.there:
        own = (
            "The data file was not there any more, or had changed: the rows that were there are "
            "written from what the audit kept, so a number may be spelt otherwise (7 for 007)."
        )
    elif dialect.format in ("csv", "parquet"):
        own = "The rows that were there are those of the data file, cell for cell."
    else:
        own = "The rows that were there have the values of the audited table."
    if dialect.format == "parquet" and exported.there:
        own += " In the Parquet file every column has the type that it had."
    else:
        own += (
            " In the Parquet file whole numbers are 64-bit integers, other numbers doubles, True "
            "and False truth values; everything else is text."
        )
        if any(tokens):
            own += (
                f" What is missing is null there: where your program takes {missing} for a value "
                "like others, train with the CSV file."
            )
    return f"{sentence} {own}"


def _columns(exported: Exported) -> str:
    spec = exported.spec
    named = set(spec.domain.names)

    def filled(name: str) -> str:
        if name == spec.label:
            return "the label that it was given"
        return "as invented" if name in named else "as the nearest real row has it"

    return _table(
        ("Column", "In added rows"),
        [(plainly(column.name), filled(column.name)) for column in spec.columns],
    )


def _origins(exported: Exported) -> str:
    where = (
        "The last columns of each file of data tell it: `origin` is “original” or “added”."
        if exported.inside
        else "`provenance.csv` tells it of each added row; its `row` counts the rows of the file "
        "from 1, without the row of names."
    )
    return (
        f"{where} `method` and `run` are those of the audit, `pair` is the number of the "
        "discriminatory pair there, `seed row` the row of the data nearest to it (or from which it "
        "was made), counted from 1, and `label source` where its label comes from."
    )


def _copied(exported: Exported) -> str:
    if not exported.like:
        return ""
    columns = "column" if len(exported.like) == 1 else "columns"
    return (
        f"In the {columns} {plainly(words.listed(exported.like))} an added row has the values of "
        "the nearest real row, so that types stay: they are copies. Where such a column tells who "
        "somebody is, leave it out of training, as before."
    )


def _training(exported: Exported) -> str:
    """Say how the model was trained."""
    run, trial, repair = exported.run, exported.trial, exported.repair
    rows = f"on {words.counted(repair.train, 'row')}" + (
        f" and {words.number(trial.added)} added ones" if trial.added else ""
    )
    if not exported.spec.model.format.startswith("Keras"):
        return f"A copy with the same settings was fitted {rows}, with the seed {run.spec.seed}."
    options: Any = parse_options(run.spec.method, run.spec.options)
    start = "from new random weights" if options.start == "scratch" else "from its own weights"
    optimiser = "its own optimiser" if options.optimiser == "own" else options.optimiser
    return (
        f"The network was trained {start} {rows}, with {optimiser}, in batches of "
        f"{words.number(options.batch)}, for at most {words.number(options.epochs)} epochs, "
        f"until the loss on the validation rows had not fallen for {options.patience}; the seed is "
        f"{run.spec.seed}."
    )


def _trusted(exported: Exported) -> str:
    if "model.joblib" not in {each.name for each in exported.model_files}:
        return ""
    return (
        "A joblib file is a program: open it only where you know that it is this one, by its "
        "SHA-256. skops and ONNX files are data."
    )


def _made_with(exported: Exported) -> Iterator[str]:
    spec, run = exported.spec, exported.run
    method = method_named(run.spec.method)
    network = spec.model.format.startswith("Keras")
    options = [
        (f"`{name}`", plainly(value), plainly(rows))
        for name, value, rows in option_rows(run)
        if network or name not in _OF_NETWORKS
    ]
    versions = ", ".join(f"{name} {version}" for name, version in spec.versions.items())
    yield (
        f"Run {run.id} of the audit “{plainly(spec.title)}”, {method.title}: {method.paper}. Model "
        f"{exported.trial.number} of it. The audit was begun with {plainly(versions)}."
    )
    seed = ("`seed`", str(run.spec.seed), "the start of all randomness")
    yield _table(("Setting", "Value", "What it is"), [seed, *options])


def _file_table(files: Iterable[WrittenFile]) -> str:
    rows = [
        (f"`{each.name}`", each.what, words.number(each.size), f"`{each.sha256}`") for each in files
    ]
    return _table(("File", "What it is", "Bytes", "SHA-256"), rows) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bullets(*texts: str) -> str:
    return "\n".join(f"* {text}" for text in texts if text)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"

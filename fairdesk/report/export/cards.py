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
from fairdesk.document.blocks import Grid
from fairdesk.document.mitigation import before_after
from fairdesk.report.sections.methods_and_formulas import option_rows
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.trials import source_of_labels
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words
from fairdesk.wording.rules import rule_phrase

#: What has a meaning of its own in Markdown, or in the HTML that it becomes.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")
#: Options that speak of networks only.
_OF_NETWORKS = ("start", "optimiser", "epochs", "batch", "patience")
_NO_LAW = (
    "FairDesk reports measurements. It has not checked this against any law or standard; "
    "whether it may be used is for those accountable for its use to decide."
)
_EXACT = (
    "Train with an exact file. The file for spreadsheets is for reading: text that a "
    "spreadsheet would run as a formula has an apostrophe before it."
)
_DATA_IS_FOR = (
    "To retrain the audited model, or one for the same purpose, in the same way as before. "
    "It contains all original rows, including those that FairDesk tested on: test a model "
    "that is trained with it on other, real rows."
)
_MIND_DATA = (
    "Unfairness in the original recorded outcomes remains in them.",
    "The right label of an augmentation row is not known.",
    "Whether the augmentation rows help a model other than the one that was measured is not known.",
)
_READING = (
    "The retrained baseline is the same model, retrained on the same rows without the "
    "augmentation rows. The original model may have been trained on the test rows, which would "
    "make it look more accurate."
)
_MODEL_IS_FOR = (
    "To replace the audited model, for the same purpose and with the same input mapping, "
    "after those accountable for it have reviewed what changed."
)
_MIND_MODEL = (
    "It was measured on rows of the same data. Its results for other individuals may differ.",
    "Another group may do worse than before: audit this model again before it is used.",
    (
        "Estimated shares come from random samples of the input domain, not from the individuals "
        "that it will decide about."
    ),
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
        f"The augmentation rows are not real {people}. They come from a search, not a "
        f"random sample: do not take rates from them, "
        "and exclude them from statistics."
    )
    return _joined(
        f"# Training data: {plainly(spec.title)}",
        f"{words.number(source.rows + exported.added)} rows: the {words.number(source.rows)} of "
        f"“{name}” and {words.number(exported.added)} augmentation rows added by "
        f"FairDesk. {_NO_LAW}",
        "## Augmentation rows and their purpose",
        # what was not done is not told
        f"{method_named(run.spec.method).sentence} {_about(exported)}"
        if repair.retrains
        else _about(exported),
        _outcome(exported),
        mitigation_words.labels_sentence(source_of_labels(repair)),
        _table(
            (plainly(spec.label), "Augmentation rows"),
            [(plainly(label), words.number(count)) for label, count in exported.labels.items()],
        ),
        "## Files",
        _file_table(exported.files),
        f"The audited data file, “{name}”, has the SHA-256 hash `{source.sha256}`.",
        _EXACT,
        _manner(exported),
        "## Columns",
        _columns(exported),
        "## Origin of each row",
        _origins(exported),
        "## Intended use",
        _DATA_IS_FOR,
        "## Caveats",
        _bullets(
            *(invented, *_MIND_DATA, _copied(exported)),
            *map(plainly, (mitigation_words.worse_sentence(exported.trial), *repair.notes)),
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
    return _joined(
        f"# Retrained model: {plainly(spec.title)}",
        f"{_outcome(exported)} {_NO_LAW}",
        "## Model",
        f"{plainly(spec.model.format)}: {plainly(spec.model.summary.rstrip('.'))}. It decides "
        f"{decisions}; “{good}” is favourable. It is “{file}” (SHA-256 `{spec.model.sha256}`), "
        "retrained.",
        "## How it was trained",
        f"{_training(exported)} {mitigation_words.split_sentence(spec, repair)}",
        mitigation_words.labels_sentence(source_of_labels(repair)),
        "## Before and after",
        *map(_grid, before_after(run, exported.trial.number)),
        _READING,
        "## Files",
        _file_table(exported.model_files),
        _bullets(*checks),
        _trusted(exported),
        "## Intended use",
        _MODEL_IS_FOR,
        "## Caveats",
        _bullets(
            *_MIND_MODEL,
            *map(plainly, (mitigation_words.worse_sentence(exported.trial), *repair.notes)),
        ),
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
        return f"{rows} were added, samples of the subgroup {rule}."
    of = words.counted(exported.pairs, "discriminatory pair")
    if not trial.percent:
        return f"{rows} were added: the instances of {of}."
    whole = exported.spec.data.rows + exported.added
    return (
        f"{rows} were added, the instances of {of}. That is {trial.percent:.3g} % of the "
        f"{words.number(repair.train)} rows used to train the measured model, and "
        f"{100 * exported.added / whole:.3g} % of the rows of this file, which contains "
        f"all original rows."
    )


def _outcome(exported: Exported) -> str:
    """Say what came of the repair, or that another model than the chosen one is exported."""
    trial, repair = exported.trial, exported.repair
    if not repair.retrains or trial.number == repair.chosen:
        return plainly(mitigation_words.headline(exported.spec, exported.run.figures).sentence)
    name = plainly(trial_words.trial_name(trial))
    if repair.chosen < 0:
        return (
            f"**No augmentation size showed an improvement.** The export has the model "
            f"that the auditor picked, or "
            f"else the one with the least discrimination: {name}. Read before-after.csv before "
            "training with it."
        )
    return (
        f"This is not the model that FairDesk chose, but one that the auditor picked: {name}. For "
        "its results see before-after.csv."
    )


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
        f"The exact CSV file is written like the data file: columns separated by "
        f"{delimiter}, decimal "
        f"{'point' if dialect.decimal == '.' else 'comma'}, {dialect.encoding}, "
        f"{'a header row' if dialect.header else 'no header row'}"
        + (f"; {missing} for missing values." if missing else ".")
    )
    if not exported.there:
        own = (
            "The data file was missing or had changed: the original rows are written from "
            "the copy in the audit, so a number may be spelt differently (7 for 007)."
        )
    elif dialect.format in ("csv", "parquet"):
        own = "The original rows are those of the data file, cell for cell."
    else:
        own = "The original rows have the values of the audited table."
    if dialect.format == "parquet" and exported.there:
        own += " In the Parquet file every column keeps its type."
    else:
        own += (
            " In the Parquet file whole numbers are 64-bit integers, other numbers doubles, "
            "True and False Booleans; everything else is text."
        )
        if any(tokens):
            own += (
                f" Missing values are null there: where your program takes {missing} for a value "
                "like others, train with the CSV file."
            )
    return f"{sentence} {own}"


def _columns(exported: Exported) -> str:
    spec = exported.spec
    named = set(spec.domain.names)

    def filled(name: str) -> str:
        if name == spec.label:
            return "the assigned label"
        return "as generated" if name in named else "as in the nearest data row"

    return _table(
        ("Column", "In augmentation rows"),
        [(plainly(column.name), filled(column.name)) for column in spec.columns],
    )


def _origins(exported: Exported) -> str:
    where = (
        "The last columns of each data file give it: `origin` is “original” or “added”."
        if exported.inside
        else (
            "`provenance.csv` gives it for each augmentation row; its `row` counts the rows of "
            "the file from 1, without the header row."
        )
    )
    return (
        f"{where} `method` and `run` are those of the audit, `pair` is the number of the "
        "discriminatory pair there, `seed row` the data row nearest to it (or from which it "
        "was made), counted from 1, and `label source` the origin of its label."
    )


def _copied(exported: Exported) -> str:
    if not exported.like:
        return ""
    columns = "column" if len(exported.like) == 1 else "columns"
    return (
        f"In the {columns} {plainly(words.listed(exported.like))} an augmentation row has "
        f"the values of "
        "the nearest data row, so that types stay: they are copies. Where such a column identifies "
        "an individual, exclude it from training, as before."
    )


def _training(exported: Exported) -> str:
    """Say how the model was trained."""
    run, trial, repair = exported.run, exported.trial, exported.repair
    rows = f"on {words.counted(repair.train, 'row')}" + (
        f" and {words.number(trial.added)} augmentation rows" if trial.added else ""
    )
    if not exported.spec.model.format.startswith("Keras"):
        seed = run.spec.seed
        return f"A copy with the same settings was fitted {rows}, with the random seed {seed}."
    options: Any = parse_options(run.spec.method, run.spec.options)
    start = "from new random weights" if options.start == "scratch" else "from its own weights"
    optimiser = "its own optimiser" if options.optimiser == "own" else options.optimiser
    return (
        f"The network was trained {start} {rows}, with {optimiser}, in batches of "
        f"{words.number(options.batch)}, for at most {words.number(options.epochs)} epochs, "
        f"until the loss on the validation rows had not fallen for {options.patience}; "
        f"the random seed is "
        f"{run.spec.seed}."
    )


def _trusted(exported: Exported) -> str:
    if "model.joblib" not in {each.name for each in exported.model_files}:
        return ""
    return (
        "A joblib file can run code: open it only after verifying its SHA-256 hash. skops "
        "and ONNX files are data."
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
    seed = ("`seed`", str(run.spec.seed), "the random seed")
    yield _table(("Setting", "Value", "Description"), [seed, *options])


def _file_table(files: Iterable[WrittenFile]) -> str:
    rows = [
        (f"`{each.name}`", each.what, words.number(each.size), f"`{each.sha256}`") for each in files
    ]
    return _table(("File", "Description", "Bytes", "SHA-256"), rows) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _grid(grid: Grid) -> str:
    """Set a table of the document, below what it shows."""
    heads, *rows = (list(map(plainly, line)) for line in (grid.header, *grid.rows))
    return f"{grid.caption}: {grid.note}.\n\n{_table(heads, rows)}"


def _bullets(*texts: str) -> str:
    return "\n".join(f"* {text}" for text in texts if text)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"

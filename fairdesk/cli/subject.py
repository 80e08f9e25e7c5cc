"""The arguments that name a table and a model, and say how they fit together."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.audit.runs.inspection import Subject
from fairdesk.cli.parsing import add_opening
from fairdesk.data.columns.kinds import as_numbers
from fairdesk.data.columns.number_formats import format_of
from fairdesk.data.table import AS_THEY_ARE, ColumnReading
from fairdesk.errors import SpecError


def add_subject(parser: argparse.ArgumentParser) -> None:
    """Add what names the table and the model, and says how they fit together."""
    add = parser.add_argument
    add(
        "--data",
        metavar="F",
        type=Path,
        required=True,
        help=(
            "the table: CSV, TSV, Parquet, Excel or SQLite; or a folder with its parts, as "
            "Parquet or CSV, which may be larger than memory"
        ),
    )
    add("--table", metavar="NAME", default="", help="its sheet or table, if it has several")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--model",
        metavar="M",
        type=Path,
        help="Keras, ONNX, scikit-learn, PMML, XGBoost, LightGBM or CatBoost",
    )
    label = add(
        "--label",
        metavar="COL",
        required=True,
        help=(
            "the column with the recorded outcome; may be omitted with --predictions: then only "
            "the decisions are compared"
        ),
    )
    which.add_argument(
        "--predictions",
        metavar="COL",
        action=_Predictions,
        label=label,
        default="",
        help="instead of a model: the column with its decisions",
    )
    add(
        "--favourable",
        metavar="V",
        action="append",
        required=True,
        help="its favourable value; may be repeated; for numbers also “>= 50”",
    )
    add(
        "--model-favourable",
        metavar="CLASS",
        action="append",
        default=[],
        help=(
            "the model’s class that means the favourable value; may be repeated; by default the "
            "one of that name, otherwise the one that matches the recorded outcome better"
        ),
    )
    add(
        "--map",
        metavar="FILE",
        type=Path,
        help=(
            "JSON: input mapping, if it differs from the proposed one, and names for classes that "
            "the model only numbers (“classes”); in the form that “inspect --json” prints as "
            "“mapping”"
        ),
    )
    add(
        "--codes",
        metavar="FILE",
        type=Path,
        help=(
            "JSON: the numbers that the model takes for the values of columns, if no companion "
            'file has them: {"sex": {"F": 1, "M": 0}, ...}, or the values in their order, from 0'
        ),
    )
    add(
        "--prepare",
        metavar="HOW",
        default="",
        help=(
            "how the inputs are scaled if no scaler came with the model: “standardise” or "
            "“range”, fitted on this table (“inspect” lists what may fit); recorded as your "
            "decision"
        ),
    )
    add(
        "--text-column",
        metavar="COL",
        default="",
        help=(
            "the column with the texts that the model reads, if it is not recognised as one; in "
            "an audit, methods that support it then compare identity terms in these texts"
        ),
    )
    add(
        "--output", metavar="NAME", default="", help="the output that decides, if there are several"
    )
    add(
        "--threshold",
        metavar="X",
        type=float,
        help="decision threshold: of a score, if not 0.5; of an estimated number",
    )
    _add_reading(parser)
    add_opening(parser)


class _Predictions(argparse.Action):
    """Takes the column of decisions, beside which no recorded outcome is needed."""

    def __init__(self, *args: Any, label: argparse.Action, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._label = label

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        _option: str | None = None,
    ) -> None:
        namespace.predictions = values
        self._label.required = False


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what decides how the cells of single columns are read."""
    add = parser.add_argument
    add(
        "--numeric",
        metavar="COL[=EXAMPLE]",
        action="append",
        default=[],
        help=(
            "a column to read as numbers, however many of its cells are not numbers; optionally "
            "with an example of how they are written: “income=1.234,5”, “income=1,234.5”; may be "
            "repeated"
        ),
    )
    add(
        "--categorical",
        metavar="COL",
        action="append",
        default=[],
        help=(
            "a column to read as categorical, although most of its cells are numbers; may be "
            "repeated"
        ),
    )
    add(
        "--text",
        metavar="COL",
        action="append",
        default=[],
        help=(
            "a column to read as categorical with its cells kept as they are: 01 and 1 differ, and "
            "“NA” or “None” are values and not missing; may be repeated. What the model’s encoder "
            "knows, and leading zeros, settle that without it"
        ),
    )
    add(
        "--odd-cells",
        metavar="COL=missing|mended",
        action="append",
        default=[],
        help=(
            "how to treat the cells of a column of numbers that are not numbers: as missing, or "
            "those that are numbers in another format (“$45”, “1 200”) are converted and the "
            "others are missing; may be repeated. “inspect” lists them"
        ),
    )
    add(
        "--mend",
        metavar="COL:CELL=VALUE",
        action="append",
        default=[],
        help=(
            "the meaning of one such cell: a number, or “missing”, like “age:90+=90”; may be "
            "repeated"
        ),
    )
    add(
        "--mend-encoding",
        action="store_true",
        help="correct texts whose encoding differs from the rest of the file",
    )
    add(
        "--age-at",
        type=iso_date,
        metavar="DATE",
        help=(
            "a protected column of dates is compared by age in whole years, in bands: the date at "
            "which the ages are, like 2024-12-31; by default the newest date of the other columns "
            "of dates, or today if there are none"
        ),
    )


def subject_of(arguments: argparse.Namespace) -> Subject:
    """Name the table and the model."""
    return Subject(
        data=arguments.data,
        label=arguments.label or arguments.predictions,
        favourable=" or ".join(arguments.favourable),
        model=arguments.model,
        predictions=arguments.predictions,
        model_favourable=" or ".join(arguments.model_favourable) or None,
        companions=tuple(arguments.companion),
        map=arguments.map,
        codes=arguments.codes,
        table=arguments.table,
        output=arguments.output,
        threshold=arguments.threshold,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
        text=arguments.text_column,
        columns=_readings(arguments),
        encoding_mended=arguments.mend_encoding,
        prepare=arguments.prepare,
        protected=tuple(getattr(arguments, "protected", ())),
        age_at=arguments.age_at or "",
    )


def iso_date(text: str) -> str:
    """Read a date like 2024-12-31; raises `argparse.ArgumentTypeError` where it is none."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a date like 2024-12-31") from None


def _readings(arguments: argparse.Namespace) -> dict[str, ColumnReading]:
    """Gather what is decided of single columns."""
    readings: dict[str, ColumnReading] = {}

    def decide(name: str, **decided: Any) -> None:  # noqa: ANN401 - members of the struct
        before = readings.get(name, ColumnReading())
        readings[name] = msgspec.structs.replace(before, **decided)

    for text in arguments.numeric:
        name, _, example = text.partition("=")
        form = format_of(example) if example else None
        if example and form is None:
            raise SpecError(
                f"“{example}” does not show a number format.",
                remedy="Give a number with grouped digits and a fraction, like 1,234.5 or 1.234,5.",
                setting="numeric",
            )
        decide(name, numeric=True, format=form)
    for read, names in (
        (ColumnReading(numeric=False), arguments.categorical),
        (AS_THEY_ARE, arguments.text),
    ):
        for name in names:
            if readings.get(name, read) != read:
                raise SpecError(
                    f"The column “{name}” can be only one of --numeric, --categorical and --text.",
                    remedy="Omit all but one of them.",
                    setting="categorical",
                )
            readings[name] = read
    for text in arguments.odd_cells:
        name, _, odd = text.rpartition("=")
        if odd not in ("missing", "mended") or not name:
            raise SpecError(
                f"“{text}” does not state how to treat odd cells.",
                remedy="Give a column and its treatment, like age=missing or age=mended.",
                setting="odd_cells",
            )
        decide(name, odd=odd)
    for text in arguments.mend:
        name, cell, value = _mending(text)
        before = readings.get(name, ColumnReading())
        decide(name, cells={**before.cells, cell: value})
    return readings


def _mending(text: str) -> tuple[str, str, float | None]:
    """Read what one cell is: its column, its text, its number or nothing for missing."""
    where, _, value = text.rpartition("=")
    name, sign, cell = where.partition(":")
    numbers = as_numbers([value], ".")
    if not sign or not name or not cell.strip() or (numbers is None and value != "missing"):
        raise SpecError(
            f"“{text}” does not state the meaning of a cell.",
            remedy="Give a column, a cell and its number, like age:90+=90, or age:O=missing.",
            setting="mend",
        )
    return name, cell.strip(), None if numbers is None else float(numbers[0])

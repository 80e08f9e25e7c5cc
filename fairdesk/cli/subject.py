"""``fairdesk inspect``, and the arguments that name a table and a model and how they are read."""

from __future__ import annotations

import argparse
from datetime import date
from typing import Any

import msgspec

from fairdesk.app.plan import AuditPlan
from fairdesk.audit.plan.spec import Limits
from fairdesk.audit.runs.inspection import Subject, inspect, numbered_ways
from fairdesk.cli.parsing import AddParser, Parser, command, filled
from fairdesk.cli.terminal import print_json, print_lines, spinner, stoppable_worker
from fairdesk.data.columns.kinds import as_numbers, format_of
from fairdesk.data.domain.support import AbsentCombination, Support, absent_combinations, written
from fairdesk.data.table import AS_THEY_ARE, ColumnReading
from fairdesk.errors import SpecError
from fairdesk.wording import inspected
from fairdesk.wording.attributes import companion_said


def add_subject(parser: Parser) -> None:
    """Add what names the table and the model, and says how they fit together."""
    which = parser.add_mutually_exclusive_group(required=True)
    parser.take("--model", within=which)
    label = parser.take("--label", required=True)
    parser.take("--predictions", within=which, action=_Predictions, label=label)
    parser.take("--age-at", type=iso_date)


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


def subject_of(arguments: argparse.Namespace) -> Subject:
    """Name the table and the model."""
    return filled(
        Subject,
        arguments,
        label=arguments.label or arguments.predictions,
        favourable=" or ".join(arguments.favourable),
        model_favourable=" or ".join(arguments.model_favourable) or None,
        companions=tuple(arguments.companion),
        trusted=arguments.trust_model,
        text=arguments.text_column,
        columns=_readings(arguments),
        encoding_mended=arguments.mend_encoding,
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


def add_inspect(add_parser: AddParser) -> None:
    """Add ``inspect``."""
    parser = command(add_parser, "inspect", _inspect)
    add_subject(parser)
    parser.take_all("--json")


def _inspect(arguments: argparse.Namespace) -> int:
    """Open a table and a model and tell how they fit; gives the exit code."""
    with stoppable_worker() as (worker, _), spinner() as say:
        subject = subject_of(arguments)
        found = inspect(worker, subject, say)
        held = worker.confinement()
        if found.mapping.guessed:
            say("Comparing the orders in which authors number values")
        tried = numbered_ways(worker, subject, found)
        say("Looking for combinations that never occur")
        plan = AuditPlan(
            table=found.table, label=arguments.label, mapping=found.mapping, proof=found.proof
        )
        if arguments.protected:
            plan.protect(arguments.protected, Limits())
            # refuses what makes no groups, as an audit does
            plan.unseen()
        absent = _absent(plan)
        support = plan.found_support() if arguments.protected else Support()
    companions = (*support.companions, *support.proposed)
    if arguments.json:
        figures = inspected.figures(found, held, absent, tried)
        figures["companions"] = {
            each.attribute: msgspec.to_builtins(written(each, plan.attributes()))
            for each in companions
        }
        print_json(figures, arguments.json)
    else:
        lines = (companion_said(each, plan.attributes()) for each in companions)
        print_lines("\n".join((inspected.summary(found, held, absent, tried), *lines)))
    return 0


def _absent(plan: AuditPlan) -> tuple[AbsentCombination, ...]:
    """Find what constraints could exclude; nothing where there is no model to query."""
    if plan.mapping is None or not plan.mapping.inputs:
        return ()
    return absent_combinations(plan.attributes(), plan.data(), plan.all_constraints())

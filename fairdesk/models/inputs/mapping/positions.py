"""Which columns a model's inputs are, by their places or by the author's code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.profiling.leaks import leaks
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError
from fairdesk.models.model import ModelCard

#: How two columns are joined, by the words that are left of an input's name without theirs.
_JOINED = {
    **dict.fromkeys(("per", "to", "over", "div", "by", "ratio", "rate"), "“{}” / “{}”"),
    **dict.fromkeys(("minus", "diff", "difference", "less"), "“{}” - “{}”"),
    **dict.fromkeys(("plus", "sum", "total"), "“{}” + “{}”"),
    **dict.fromkeys(("times", "x", "product", "interaction"), "“{}” * “{}”"),
}
#: What is made of one column.
_MADE = {
    **dict.fromkeys(("band", "bands", "bin", "bins", "binned", "bucket"), "bands of “{}”"),
    **dict.fromkeys(("group", "grp", "range", "category", "cat"), "bands of “{}”"),
    **dict.fromkeys(("log", "ln", "log1p"), "the logarithm of “{}”"),
    **dict.fromkeys(("squared", "sq", "square"), "the square of “{}”"),
    **dict.fromkeys(("sqrt", "root"), "the square root of “{}”"),
    **dict.fromkeys(("missing", "isna", "isnull", "na"), "1 where “{}” is missing, else 0"),
}


def advice(names: Sequence[str], columns: Sequence[Column]) -> str:
    """Say how inputs get a column that the author's code computed, and what they may be."""
    formulas = [
        f"“{name}” may be {formula}" for name in names for formula in _formulas(name, columns)
    ]
    return (
        "If the author’s code computed them from other columns, add each to the table as a column "
        "of that name, computed as it was for training"
        + (f": {'; '.join(formulas)}." if formulas else ".")
    )


def of_encoded(name: str, columns: Sequence[Column]) -> Column | None:
    """Find the column that an input is called after: “Sex” for “Sex_encoded”; None if several."""
    parts = name_parts(name)
    found = [
        (len(own), column)
        for column in columns
        if (own := name_parts(column.name))
        and len(own) < len(parts)
        and own in (parts[: len(own)], parts[-len(own) :])
    ]
    most = max((count for count, _ in found), default=0)
    longest = [column for count, column in found if count == most]
    return longest[0] if len(longest) == 1 else None


def _formulas(name: str, columns: Sequence[Column]) -> Iterator[str]:
    """Yield what an input may be made of, where its name says it: one, or nothing."""
    parts = name_parts(name)
    places: dict[int, Column] = {}
    for column in columns:
        own = name_parts(column.name)
        for start in range(len(parts) - len(own) + 1):
            if own and parts[start : start + len(own)] == own:
                places[start] = column
    used = {part for column in places.values() for part in name_parts(column.name)}
    left = [part for part in parts if part not in used]
    made_of = [places[start].name for start in sorted(places)]
    forms = {1: _MADE, 2: _JOINED}.get(len(made_of), {})
    form = next((forms[part] for part in left if part in forms), None)
    if form is not None:
        yield form.format(*made_of)


#: Words so short say nothing of what a column is about.
_SHORT = 3


def as_many(card: ModelCard, table: Table, label: str, told: set[str]) -> list[tuple[Column, ...]]:
    """Find the columns that are as many as a model's inputs, in the table's order.

    All but the label; or without other outcomes, without excluded columns, or without both. What is
    excluded may be an input all the same: only its cells look like names of rows. What is another
    outcome is none: a column that tells the label almost alone, or is called after what the label
    is called after.

    Parameters
    ----------
    told : set[str]
        What `told_by` returns.

    Returns
    -------
    list[tuple[Column, ...]]
        The choices, the first with the most of the table's columns. None of them has other outcomes
        in it, where one does without them.
    """
    count = len(card.inputs)
    others = tuple(column for column in table.columns if column.name != label)
    words = {part for part in name_parts(label) if len(part) > _SHORT or not part.isalpha()}
    called = {c.name for c in others if words & set(name_parts(c.name))}
    with_outcome: list[tuple[Column, ...]] = []
    without: list[tuple[Column, ...]] = []
    for outcomes in (set(), told, called, told | called):
        for excluded in (True, False):
            choice = tuple(
                column
                for column in others
                if column.name not in outcomes and (excluded or column.kind is not Kind.IGNORED)
            )
            kept = without if not told & {column.name for column in choice} else with_outcome
            if len(choice) == count and choice not in kept:
                kept.append(choice)
    return without or with_outcome


def told_by(table: Table, label: str, favourable: str) -> set[str]:
    """Return the columns that tell the outcome almost alone."""
    try:
        good, _ = favourable_rows(table, label, favourable)
    except DataError:
        return set()
    return {problem.column for problem in leaks(table, label, good)}

"""Inputs that the author's code computed from columns: what they may be, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.table import Column

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

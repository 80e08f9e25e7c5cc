"""A proposal while it is worked out: by names, or by the places of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from fairdesk.data.columns.kinds import as_numbers, mostly_numbers
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.inputs.mapping.making import (
    Made,
    advice,
    as_many,
    guess_sentence,
    hinted,
    input_names,
    listing,
    made_of,
    numbers_in,
    of_encoded,
    scaled,
    token_of,
    told_by,
)
from fairdesk.models.inputs.one_hot import (
    MISSING,
    MISSING_NAMES,
    Place,
    Values,
    loose,
    made,
    recognise,
    values_of,
)
from fairdesk.models.model import Input, ModelCard

BY_NAME, BY_POSITION = "by name", "by position"
ONE_HOT = "by position, with an input for each value"
#: Of so many values, how many have no input: `drop_first` and `drop="if_binary"` among the ways.
_DROPPED: dict[str, Callable[[int], int]] = {
    "each value": lambda _: 0,
    "each value but the first": lambda _: 1,
    "each value, one for two": lambda count: int(count == 2),
}


class _Way(NamedTuple):
    """An order of inputs that have no names."""

    key: str
    matched: str
    title: str
    short: str
    inputs: Made
    assumed: bool = True


class Proposer:
    """Works one proposal out; keeps what is open and what was assumed."""

    def __init__(self, card: ModelCard, table: Table, label: str, favourable: str = "") -> None:
        self.card = card
        self._favourable = favourable
        self.table = table
        self.label = label
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._refused: set[str] = set()
        self._others = [
            column for column in table.columns if column.name != label and not column.derived
        ]
        self._offered = [column for column in self._others if column.kind is not Kind.IGNORED]

    def inputs(self, arrangement: str = "") -> tuple[Made, str]:
        """Propose the inputs, and say how they were matched."""
        names = self.names()
        if arrangement:
            inputs, matched = self._arranged(arrangement, names)
        elif names is None:
            inputs, matched = self._by_position()
        else:
            inputs, matched = self._by_name(names), BY_NAME
        self._tell_numbered(inputs)
        made = scaled(self.card, inputs, (*(names or ()), self.label))
        self.problems += made.problems
        self.notes += made.notes
        return made.inputs, matched

    def names(self) -> tuple[str, ...] | None:
        """Return the inputs' names, its own or from a list beside it; none where none fit."""
        listed, count = self.card.hints.features, len(self.card.inputs)
        names = input_names(self.card)
        texts = any(column.kind is Kind.TEXT for column in self._offered)
        only_reads = texts and count == 1 and self._accepts(0) == "text"
        if not self.card.named and len(listed) != count and not only_reads:
            if listed:
                self.notes.append(
                    f"A companion list names {len(listed)} features, but the model has "
                    f"{count} inputs: the list is not used."
                )
            return None
        if len(names) == len(self._offered) and not self._fitting(names):
            self.notes.append(
                "None of the model’s inputs has the name of a column. There are as many "
                "inputs as columns, so they are made from the columns in their order: check "
                "this."
            )
            return None
        return names

    def _fitting(self, names: Sequence[str]) -> bool:
        columns = {loose(column.name) for column in self.table.columns}
        return any(loose(name) in columns for name in names) or bool(
            recognise(names, self.table, self._offered).places
        )

    def _by_name(self, names: Sequence[str]) -> Made:
        counted = Counter(loose(column.name) for column in self.table.columns)
        exact = {column.name: column for column in self.table.columns}
        loosely = {loose(c.name): c for c in self.table.columns if counted[loose(c.name)] == 1}
        columns = {name: exact.get(name) or loosely.get(loose(name)) for name in names}
        columns.update(self._free_text(names, columns))
        columns.update(self._by_values(columns))
        rest = [name for name, column in columns.items() if column is None]
        # what transformers put before a column's name, as “num__age”
        for name in rest:
            columns[name] = exact.get(name.partition("__")[2])
        columns.update(self._encoded(name for name in rest if columns[name] is None))
        # “workclass_?” is spelt loosely like “workclass”, and is its value “?”
        unlike = [name for name, column in columns.items() if column and name != column.name]
        rest = [name for name in rest if columns[name] is None]
        ones = recognise([*rest, *self._signs(unlike, columns)], self.table, self._others)
        columns.update(dict.fromkeys(ones.places))
        self.problems += ones.problems
        self._refuse(columns.values(), ones.places.values())
        inputs = [
            self._propose_input(name, columns[name], ones.places.get(name), i)
            for i, name in enumerate(names)
        ]
        self._tell_groups(ones.places)
        missing = [name for name, item in zip(names, inputs, strict=True) if item is None]
        missing = [name for name in missing if columns[name] is None and name not in ones.places]
        if missing:
            used = {item.attribute for item in inputs if item is not None}
            unused = [column.name for column in self._others if column.name not in used]
            other = "This model is for other data. " if 2 * len(missing) > len(names) else ""
            self.problems.append(
                f"{other}The model has {_inputs(len(names))}, and the table has no column for "
                f"{listing(missing)}."
            )
            self.problems.append(
                f"Unused columns: {listing(unused)}." if unused else "No column is unused."
            )
            self.problems.append(advice(missing, self._others))
        return inputs

    def _encoded(self, names: Iterable[str]) -> dict[str, Column]:
        """Return the columns of inputs like “Sex_encoded” where an encoder of the column is there.

        What names a value of the column, like “Sex_male”, is one of several inputs made of it.
        """
        found = {name: of_encoded(name, self._others) for name in names}
        return {
            name: column
            for name, column in found.items()
            if column is not None
            and hinted(self.card.hints.codes, name, column.name) is not None
            and loose(name).replace(loose(column.name), "", 1) not in map(loose, column.values)
        }

    def _signs(self, names: Sequence[str], columns: dict[str, Column | None]) -> list[str]:
        """Return the inputs that are called like their column and a value that is all signs."""
        return [
            name
            for name in names
            if (column := columns[name]) is not None
            and any(
                name.endswith(value) and not column.name.endswith(value)
                for value in (column.missing_token, *column.values)
                if value and not loose(value)
            )
        ]

    def _free_text(
        self, names: Sequence[str], columns: dict[str, Column | None]
    ) -> dict[str, Column]:
        """Return the first free text for the only input that takes text and has none."""
        texts = [column for column in self._offered if column.kind is Kind.TEXT]
        left = [column for column in texts if column not in columns.values()]
        wanting = [
            name
            for i, name in enumerate(names)
            if columns[name] is None and self._accepts(i) == "text"
        ]
        if not left or len(wanting) != 1:
            return {}
        which, check = "only column", ""
        if len(left) > 1:
            which, check = f"first of {len(left)} columns", ": check this"
        self.notes.append(
            f"The model’s input “{wanting[0]}” accepts text, and is made from the {which} of "
            f"text, “{left[0].name}”{check}."
        )
        return {wanting[0]: left[0]}

    def _by_values(self, columns: dict[str, Column | None]) -> dict[str, Column]:
        """Return the only columns that have the values of inputs that are called like no column."""
        found = {}
        for name, known in self.card.hints.values.items():
            if columns.get(name) is not None:
                continue
            fitting = [each for each in self._others if self._has_values(each, known)]
            if len(fitting) == 1:
                found[name] = fitting[0]
                self.notes.append(
                    f"The model’s input “{name}” is made from “{fitting[0].name}”, the only column "
                    f"with its values ({listing(known)}): check this."
                )
            else:
                several = listing([each.name for each in fitting]) or "no column"
                self.problems.append(
                    f"The model’s input “{name}” has the values {listing(known)}. Columns with "
                    f"these values: {several}. State which one it is made from."
                )
        return found

    def _has_values(self, column: Column, known: Sequence[str]) -> bool:
        if column.kind is Kind.IGNORED:
            return False
        places = Values(tuple(known))
        return {places.find(value) for value in values_of(self.table, column)} == {*known}

    def _propose_input(
        self, name: str, column: Column | None, place: Place | None, at: int
    ) -> Input | None:
        if place is not None:
            column = self.table.column(place.column)
            if column.kind is Kind.IGNORED:
                return None
            return made(name, place)
        if column is None or column.kind is Kind.IGNORED or column.name == self.label:
            return None
        return made_of(name, column, self.table, self.card, self._accepts(at))

    def _accepts(self, at: int) -> str:
        return self.card.accepts[at] if at < len(self.card.accepts) else ""

    def _refuse(self, columns: Iterable[Column | None], places: Iterable[Place]) -> None:
        """Note the inputs that no column may be given to: the label, and ignored columns."""
        found = [column for column in columns if column is not None]
        found += [self.table.column(place.column) for place in places]
        if any(column.name == self.label for column in found):
            self.problems.append(
                f"The model takes the recorded outcome “{self.label}” as an input: a model that "
                "receives the outcome cannot be audited against it. Choose another column, or "
                "the model that decides without it."
            )
        self._refuse_ignored(found)

    def _refuse_ignored(self, columns: Sequence[Column]) -> None:
        ignored = dict.fromkeys(c.name for c in columns if c.kind is Kind.IGNORED)
        if ignored:
            self.problems.append(
                f"The model takes columns that are excluded: {listing([*ignored])}. Give them "
                "another type."
            )

    def _by_position(self) -> tuple[Made, str]:
        count = len(self.card.inputs)
        told = told_by(self.table, self.label, self._favourable)
        choices = as_many(self.card, self.table, self.label, told)
        if choices and not self.card.hints.one_hot:
            return self._as_many(choices, told), BY_POSITION
        if (way := next(self.ways(), None)) is not None:
            if way.assumed:
                self.notes.append(
                    f"The model’s inputs have no names. Their number fits {way.title}, so they are "
                    "made in this way: check the accuracy."
                )
            return way.inputs, way.matched
        ignored = len(self._others) - len(self._offered)
        self.problems.append(
            f"This model may be for other data. The model has {_inputs(count)}, but the table "
            f"offers {len(self._offered)} columns"
            + (f" (and {ignored} are excluded)" if ignored else "")
            + "."
        )
        self.problems.append(
            f"Without the recorded outcome “{self.label}” they are: "
            f"{listing([column.name for column in self._offered])}."
        )
        return [None] * count, BY_POSITION

    def _as_many(self, choices: Sequence[Sequence[Column]], told: set[str]) -> Made:
        """Take the columns that are as many as the inputs; leave open which, where several are."""
        nothing: Made = [None] * len(self.card.inputs)
        first, *others = choices
        if others:
            left_out = [
                listing([c.name for c in self._others if c not in choice]) for choice in choices
            ]
            self.problems.append(
                f"The model has {_inputs(len(first))} without names, and the table has "
                f"{len(self._others)} columns besides “{self.label}”: those that are not inputs "
                f"may be {', or '.join(left_out)}."
            )
            return nothing
        if any(column.kind is Kind.IGNORED for column in first):
            self._refuse_ignored(first)
            return nothing
        told &= {column.name for column in first}
        unused = [column.name for column in self._offered if column not in first]
        if told or unused:
            self.notes.append(
                "The model’s inputs have no names. They are made from the columns in the table’s "
                "order"
                + (f", without {listing(unused)}" if unused else "")
                + (f"; {listing(sorted(told))} almost states the outcome by itself" if told else "")
                + ": check this."
            )
        return self._in_order(first)

    def _in_order(self, columns: Sequence[Column]) -> Made:
        return [
            made_of(name, column, self.table, self.card, self._accepts(i))
            for i, (name, column) in enumerate(zip(input_names(self.card), columns, strict=True))
        ]

    def _arranged(self, key: str, names: Sequence[str] | None) -> tuple[Made, str]:
        """Return the inputs in the order that the auditor chose."""
        ways = [] if names is not None else list(self.ways())
        for way in ways:
            if way.key == key:
                return way.inputs, way.matched
        known = f"Choose one of: {listing([way.key for way in ways])}." if ways else ""
        raise ModelError(
            f"The model’s inputs cannot be arranged as “{key}”.",
            why="They have names, and columns are assigned by these."
            if names is not None
            else (
                "There is no such arrangement, or its number of inputs differs from that of the "
                "model."
            ),
            remedy=known or "Omit the arrangement.",
        )

    def ways(self) -> Iterator[_Way]:
        """Go through the ways in which columns are as many inputs as the model takes.

        Every column in its place, with a number for each value; or, as `pandas.get_dummies` and
        encoders do, numbers first and then the values of each column in alphabetical order: all,
        all but the first of each, or all but the first of two; or names of two values as numbers in
        their place, and those of more with an input for each value behind or before all others.
        """
        if len(self._offered) == len(self.card.inputs):
            yield _Way(
                "codes",
                BY_POSITION,
                "the columns in their order, with a number for each value",
                "columns in their order, categories numbered in alphabetical order",
                self._in_order(self._offered),
                assumed=False,
            )
        hints = self.card.hints.one_hot
        names = [c for c in self._offered if hinted(hints, c.name, c.name) or _named(c)]
        larger = [column for column in names if len(column.values) != 2]
        found: list[Made] = []
        for key, short, spread_out in (
            ("one-hot", "numbers first, one-hot last", names),
            ("one-hot-last", "one-hot last, two values as 0 and 1", larger),
            ("one-hot-first", "one-hot first, two values as 0 and 1", larger),
        ):
            way = self._one_hot_in_order(key, short, spread_out) if spread_out else None
            if way is not None and way.inputs not in found:
                found.append(way.inputs)
                yield way

    def _one_hot_in_order(self, key: str, short: str, spread_out: Sequence[Column]) -> _Way | None:
        """Make an input for each value of these columns, and one of each other column."""
        first = key == "one-hot-first"
        kept = [column for column in self._offered if column not in spread_out]
        for with_token in (True, False):
            groups = [self._categories(column, with_token=with_token) for column in spread_out]
            for how, dropped in _DROPPED.items():
                used = [values[dropped(len(values)) :] for values in groups]
                if len(kept) + sum(map(len, used)) == len(self.card.inputs):
                    numbers = "numbers" if key == "one-hot" else "the other columns in their order"
                    ones = f"an input for {how} of {listing([c.name for c in spread_out])}"
                    title = (
                        f"{ones} first, then {numbers}"
                        if first
                        else f"{numbers} first, then {ones}"
                    )
                    made_so = self._spread_out(kept, spread_out, used, first=first)
                    return _Way(key, ONE_HOT, title, short, made_so)
        return None

    def _spread_out(
        self,
        kept: Sequence[Column],
        columns: Sequence[Column],
        used: Sequence[Sequence[str | None]],
        *,
        first: bool,
    ) -> Made:
        places = [
            Place(column.name, value)
            for column, values in zip(columns, used, strict=True)
            for value in values
        ]
        parts: list[Column | Place] = [*places, *kept] if first else [*kept, *places]
        return [
            made(name, part)
            if isinstance(part, Place)
            else made_of(name, part, self.table, self.card, "number")
            for name, part in zip(input_names(self.card), parts, strict=True)
        ]

    def _categories(self, column: Column, *, with_token: bool) -> list[str | None]:
        """Return the values that have an input each, in order; None is none of the data's."""
        token = token_of(column)
        known = Values(values_of(self.table, column))
        values = hinted(self.card.hints.one_hot, column.name, column.name)
        if values is not None:
            return [_cell(value, known, column) for value in values]
        texts = sorted({*column.values, token} if token and with_token else column.values)
        return [MISSING if text == token else text for text in texts]

    def _tell_groups(self, places: dict[str, Place]) -> None:
        """Note values of one-hot columns that the model does not distinguish, and new ones."""
        groups: dict[str, set[str | None]] = {}
        strangers = [name for name, place in places.items() if place.value is None]
        misspelt = {places[name].column for name in strangers}
        for place in places.values():
            groups.setdefault(place.column, set()).add(place.value)
        for name, covered in groups.items():
            values = values_of(self.table, self.table.column(name))
            left = [value for value in values if value not in covered]
            if not self.table.column(name).values:
                continue
            if len(left) > 1:
                self.notes.append(
                    f"The model has no inputs for {listing(left)} of “{name}”, and cannot "
                    "distinguish them."
                )
            elif left and name in misspelt:
                # who drops the first value leaves one too, but then the others are known
                self.notes.append(
                    f"The model has no input for “{left[0]}” of “{name}”, but one for a value that "
                    "the data do not have: perhaps it is spelt differently."
                )
        if strangers:
            self.notes.append(
                f"Inputs for values that do not occur in the data, always 0: {listing(strangers)}."
            )

    def _tell_numbered(self, inputs: Made) -> None:
        """Note where the numbers of categories were only guessed."""
        guessed = [item.attribute for item in inputs if item is not None and item.guessed]
        for name in dict.fromkeys(guessed):
            self._refuse_ranks(name, inputs)
        guessed = [name for name in guessed if name not in self._refused]
        if guessed:
            self.notes.append(guess_sentence(tuple(dict.fromkeys(guessed))))

    def _refuse_ranks(self, name: str, inputs: Made) -> None:
        """Leave open what a column that is mostly numbers is to be: no places in an alphabet."""
        values = self.table.column(name).values
        decimal = self.table.source.dialect.decimal
        strange = [value for value in values if as_numbers([value], decimal) is None]
        scaled = hinted(self.card.hints.steps, name, name) and len(strange) < len(values)
        if not strange or not (scaled or mostly_numbers(values, decimal)):
            return
        self._refused.add(name)
        inputs[:] = [
            None if item is not None and item.attribute == name else item for item in inputs
        ]
        self.problems.append(
            f"The model takes “{name}” as a number, but the column contains numbers and "
            f"{listing(strange, 3)}. Its places in the alphabet (10 before 2) would mean nothing. "
            "Read the column as numbers (on the command line with --numeric), or state the number "
            "of each value."
        )


def _named(column: Column) -> bool:
    """Return whether a column's values are names, not numbers or yes and no in Python's words."""
    return bool(column.values) and numbers_in(column.values) is None


def _cell(value: str, known: Values, column: Column) -> str | None:
    """Find what a category is in the table: a value, or a missing cell."""
    found = known.find(value)
    if found is None and (value == column.missing_token or value.casefold() in MISSING_NAMES):
        return MISSING
    return found


def _inputs(count: int) -> str:
    return f"{count} input" if count == 1 else f"{count} inputs"

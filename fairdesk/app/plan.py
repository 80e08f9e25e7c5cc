"""The plan of an audit: what the window's answers, or the command line's arguments, come to.

Both fill in an `AuditPlan`; only it makes of that a domain and an `AuditSpec`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from fairdesk.audit.plan.spec import AuditSpec, Limits
from fairdesk.data.columns.derived import age_name, find_groups, is_of_dates
from fairdesk.data.domain.attributes import (
    EVERY_VALUE_UP_TO,
    UNKNOWN_NAMES,
    Attribute,
    Limit,
    Role,
    attribute_of,
    encode,
)
from fairdesk.data.domain.dependencies import find_companions
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.domain.formulas import Dependence
from fairdesk.data.domain.support import CompanionChoice, Support, chosen_support, learn_support
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError, concerning
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.inputs.mapping.making import listing
from fairdesk.models.inputs.numbering import demand
from fairdesk.models.model import Mapping, ModelCard

#: Columns of these kinds tell no people apart.
_NO_PEOPLE = (Kind.IGNORED, Kind.TEXT)


@dataclass(frozen=True)
class Choice:
    """What the auditor decided about one attribute.

    Attributes
    ----------
    role : Role
        What a search may do with it.
    limits : tuple, optional
        ``(low, high)`` of a number, the allowed values of names; all that the data hold if none.
    step : float
        Of a number: only multiples of this, counted from the low end; 0 is any.
    every_value : bool
        Compare each value of a protected whole number, not the middles of bins.
    unknown : bool, optional
        Whether missing cells of names are a category of their own; if none, wherever the model
        takes them.
    given : Limit or tuple, optional
        Instead of these limits and step: what `attribute_of` takes. A list of names is complete:
        it names missing cells too, or they are not allowed.
    thresholds : bool
        Whether the auditor gave the bin boundaries of a number.
    """

    role: Role = Role.VARIES
    limits: tuple[float | str, ...] | None = None
    step: float = 0.0
    every_value: bool = False
    unknown: bool | None = None
    given: Limit | tuple[int | float | str, ...] | None = None
    thresholds: bool = False


#: What a row is where a model reads nothing but texts, and the auditor says nothing else.
TEXT = "text"


@dataclass
class AuditPlan:
    """What is to be audited, as far as it is known.

    Attributes
    ----------
    table : Table, optional
        The data, with the column kinds that the auditor chose.
    person, label, favourable : str
        What a row is; the column with the decision or truth; its value that is good to get.
    card, mapping, proof : optional
        The model, how columns become its inputs, and how it fared on the rows.
    trusted : bool
        Whether the auditor agreed to run the model file's own code.
    predictions : str
        The column with the decisions that a model made, where the model is not at hand: then the
        card describes that column; else empty.
    choices : dict[str, Choice]
        Per attribute; those not in it have the default.
    constraints : tuple[str, ...]
        What holds for everybody, as `fairdesk.data.domain.constraints` reads it.
    companion_choice : CompanionChoice
        Which attributes change with a protected one.
    title : str
        The audit's name.
    accept_guesses : bool
        Whether the audit may rest on guessed numbers for values, which its report then says.
    """

    table: Table | None = None
    person: str = "applicant"
    label: str = ""
    favourable: str = ""
    card: ModelCard | None = None
    trusted: bool = False
    predictions: str = ""
    mapping: Mapping | None = None
    proof: InputCheck | None = None
    choices: dict[str, Choice] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    companion_choice: CompanionChoice = "auto"
    title: str = ""
    accept_guesses: bool = False
    _learned: tuple[object, Support] | None = field(default=None, repr=False, compare=False)
    _said: tuple[object, set[str]] | None = field(default=None, repr=False, compare=False)

    def attribute_names(self) -> tuple[str, ...]:
        """Return the columns that are attributes, in file order: those that the model uses.

        Protected columns that say the same as one of them are, too: the model's inputs change with
        them. Where the model is not at hand, all that can tell people apart.
        """
        if self.table is None or self.mapping is None:
            return ()
        groups = self.groups()
        if self.predictions:
            following = set(chain(*groups.values()))
            return tuple(
                column.name
                for column in self.table.columns
                if column.kind is not Kind.TEXT
                and self._may_be_used(column)
                and column.name not in following
            )
        used = self._used()
        used |= self._said_by(used)
        return tuple(name for name in self.table.names if name in used)

    def _used(self) -> set[str]:
        """Return the columns that the model uses, and the attributes that these are parts of."""
        used = {each.attribute for each in self.mapping.inputs} if self.mapping else set()
        used |= {name for name, parts in self.groups().items() if not used.isdisjoint(parts)}
        return used - {"", self.label}

    def _said_by(self, used: Collection[str]) -> set[str]:
        """Return the protected columns apart from these that have companions among them."""
        table = self.data()
        others = [
            column.name
            for column in table.columns
            if column.kind not in _NO_PEOPLE
            and column.name not in used
            and self._may_be_used(column)
            and self.choice(column.name).role is Role.PROTECTED
        ]
        if not others:
            return set()
        following = set(chain(*self.groups().values()))
        names = [name for name in table.names if name in used or name in others]
        attributes = tuple(self.attribute(name) for name in names if name not in following)
        key = (id(table), attributes)
        if self._said is None or self._said[0] != key:
            found = find_companions(attributes, encode(attributes, table))
            self._said = key, {each.by for each in found}
        return self._said[1].intersection(others)

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the attributes that are in several columns of 0 and 1, with these columns."""
        return {
            column.name: column.derived
            for column in (() if self.table is None else self.table.columns)
            if column.is_one_hot and self._may_be_used(column)
        }

    def _may_be_used(self, column: Column) -> bool:
        """Return whether a column is neither excluded nor the outcome, nor follows from that."""
        outcomes = {self.label, self.predictions}
        return column.kind is not Kind.IGNORED and outcomes.isdisjoint(
            (column.name, *column.derived)
        )

    def all_constraints(self) -> tuple[str, ...]:
        """Return the constraints, and that columns of 0 and 1 follow the attribute they are of."""
        used = self.attribute_names()
        follow = (
            Dependence(column, name).text
            for name, columns in self.groups().items()
            for column in columns
            if column in used
        )
        return tuple(dict.fromkeys((*follow, *self.constraints)))

    def unused_names(self) -> tuple[str, ...]:
        """Return the columns that the model does not use, apart from the label and ignored ones."""
        if self.table is None or self.mapping is None:
            return ()
        used = {*self.attribute_names(), *chain(*self.groups().values())}
        return tuple(
            column.name
            for column in self.table.columns
            if column.name not in used and self._may_be_used(column)
        )

    def unseen_names(self) -> tuple[str, ...]:
        """Return the columns that tell groups apart though the model is not given them."""
        if self.table is None or self.predictions:
            return ()
        return tuple(
            name for name in self.unused_names() if self.table.column(name).kind is not Kind.TEXT
        )

    def protected_names(self, names: Iterable[str]) -> list[str]:
        """Return those of some attributes that are protected."""
        return [name for name in names if self.choice(name).role is Role.PROTECTED]

    def text_names(self) -> tuple[str, ...]:
        """Return the attributes that are texts which the model reads."""
        table = self.data()
        return tuple(
            name for name in self.attribute_names() if table.column(name).kind is Kind.TEXT
        )

    def choice(self, name: str) -> Choice:
        """Return what is decided about an attribute."""
        return self.choices.get(name, Choice())

    def choose(self, name: str, choice: Choice) -> None:
        """Decide about an attribute."""
        self.choices[name] = choice

    def attribute(self, name: str) -> Attribute:
        """Make an attribute from its column and what is decided about it.

        Raises
        ------
        SpecError
            When they do not fit.
        """
        column = self.data().column(name)
        choice = self.choice(name)
        if choice.role is Role.PROTECTED:
            self._check_groups(column, choice)
        unknown = may_be_unknown(column) and choice.unknown is not False
        return _attribute(column, choice, unknown=unknown and self.takes_missing(name))

    def _check_groups(self, column: Column, choice: Choice) -> None:
        """Refuse a protected column whose values make no groups: single days, probabilities.

        So is one that is a part of an attribute, in a table of which not all rows are held.
        """
        name, table = column.name, self.data()
        if table.source.sample is not None:
            for parts in find_groups(table, (self.label, self.predictions)).values():
                if name in parts:
                    raise SpecError(
                        f"The columns {listing(parts)} are one attribute, and cannot be combined "
                        "in a table that is read in parts.",
                        remedy="Audit a random part of its rows, in a file that fits into memory.",
                        setting="protected",
                    )
        if is_of_dates(column):
            raise SpecError(
                f"The column “{name}” holds dates, and single days are no groups.",
                why="Dates are compared by age, in whole years at a date.",
                remedy=f"Add the ages at a date to the data, then protect “{age_name(name)}” "
                "(on the command line, --protected does both; --age-at gives the date).",
                setting="protected",
            )
        asked = choice.limits or choice.given or choice.step or choice.thresholds
        if column.kind is Kind.REAL and 0 <= column.low < column.high <= 1 and not asked:
            codes = table.codes[:, table.index(name)]
            if np.unique(codes[~np.isnan(codes)]).size > EVERY_VALUE_UP_TO:
                raise SpecError(
                    f"The column “{name}” holds numbers from 0 to 1, such as probabilities of "
                    "belonging to a group, and defines no groups.",
                    why="In bins of a probability the members of several groups are mixed, so a "
                    "comparison of the bins says little of the groups.",
                    remedy="Protect a column with the groups themselves, or give the thresholds "
                    f"that divide this one (--bins {name}=0.5) or its allowed range.",
                    setting="protected",
                )

    def takes_missing(self, name: str) -> bool:
        """Return whether missing cells of a column can be a category that is asked about.

        They can where the model really answered for such rows, or is not asked about them.
        """
        proof = self.proof
        if self.predictions or (proof is not None and name in proof.takes_missing):
            return True
        return self._used().isdisjoint((name, *self.groups().get(name, ())))

    def attributes(self) -> tuple[Attribute, ...]:
        """Make all attributes; raises like `attribute`."""
        return tuple(self.attribute(name) for name in self.attribute_names())

    def unseen(self) -> tuple[Attribute, ...]:
        """Make the protected attributes that the model is not given; raises like `attribute`."""
        return tuple(map(self.attribute, self.protected_names(self.unseen_names())))

    def protect(
        self, protected: Collection[str], limits: Limits, edges: Collection[str] = ()
    ) -> None:
        """Decide about all attributes at once, by the names of columns.

        Parameters
        ----------
        protected : collection of str
            The columns to compare. Those that the model is not given tell groups apart only.
        limits : Limits
            What may be asked about; what is left out is as in the data.
        edges : collection of str
            The columns of numbers whose bin boundaries are given.

        Raises
        ------
        DataError
            When there is no such column.
        SpecError
            When a protected or limited column is no attribute.
        """
        table, names = self.data(), self.attribute_names()
        derived = {name: each.name for each in table.columns for name in each.derived}
        protected = [derived.get(name, name) for name in protected]
        for name in protected:
            with concerning("protected"):
                table.index(name)
            if name in (self.label, self.predictions):
                what = "label column" if name == self.label else "column of decisions"
                raise SpecError(
                    f"The {what} “{name}” cannot be protected.",
                    why=(
                        "Groups defined by the outcome always differ in it, whatever the model "
                        "decides."
                    ),
                    remedy=f"Protect one of the others: {', '.join(names)}.",
                    setting="protected",
                )
            if table.column(name).kind in _NO_PEOPLE:
                with concerning("protected"):  # refuses it, with the reason
                    attribute_of(table.column(name), Role.PROTECTED)
        known = [*names, *(name for name in table.names if name in protected and name not in names)]
        for name in limits.attributes:
            if name not in known:
                raise SpecError(
                    f"The domain refers to “{name}”, which is not an attribute of this audit.",
                    remedy=f"The attributes are: {', '.join(known)}.",
                    setting="limits",
                )
        self.constraints = limits.constraints
        groups = self.groups()
        following = set(chain(*groups.values()))
        self.choices = {
            name: replace(
                _choice((name, *groups.get(name, ())), limits, protected=name in protected),
                thresholds=name in edges,
            )
            for name in known
        }
        for name in following.intersection(known):
            self.choices[name] = replace(self.choices[name], role=Role.VARIES)

    @property
    def only_texts(self) -> bool:
        """Whether all that the model reads is free text: then a row is no person, but a text."""
        names = () if self.predictions or self.table is None else self.attribute_names()
        return bool(names) and all(self.data().column(name).kind is Kind.TEXT for name in names)

    def suggest_title(self) -> str:
        """Name the audit after its model and data."""
        if self.title:
            return self.title
        parts = []
        if self.table is not None:
            parts.append(Path(self.table.source.path).stem)
        if self.card is not None:
            parts.append(Path(self.card.path).stem)
        return ", ".join(dict.fromkeys(parts)) or "Audit"

    def domain(self) -> Domain:
        """Make the domain.

        Raises
        ------
        SpecError
            When nothing can be compared, with what to change.
        """
        with concerning("limits"):
            return constrained_domain(
                self.attributes(),
                self.all_constraints(),
                self.data(),
                self.unseen(),
                self.support(),
            )

    def support(self) -> Support:
        """Return which comparisons the data support, with the companions that were chosen.

        Raises
        ------
        SpecError
            When a companion that was given does not fit.
        """
        if self.predictions:
            return Support()
        return chosen_support(self.found_support(), self.companion_choice, self.attributes())

    def found_support(self) -> Support:
        """Return what the data support, with the companions that were found; remembered."""
        table, attributes = self.data(), self.attributes()
        constraints = self.all_constraints()
        key = (id(table), attributes, constraints)
        if self._learned is None or self._learned[0] != key:
            self._learned = key, learn_support(attributes, table, constraints)
        return self._learned[1]

    def spec(self) -> AuditSpec:
        """Freeze the question.

        Raises
        ------
        SpecError
            When an answer that it needs is missing or only guessed, or as `domain`.
        """
        if self.card is None or self.mapping is None:
            raise SpecError("The audit cannot start yet.")
        unknown = demand(self.mapping)
        if unknown is not None and not self.accept_guesses:
            raise unknown
        table = self.data()
        return AuditSpec(
            title=self.suggest_title(),
            person=self.person.strip(),
            data=table.source,
            columns=table.columns,
            label=self.label,
            favourable=self.favourable,
            model=self.card,
            mapping=self._mapping_with_missing(self.mapping),
            domain=self.domain(),
            trusted=self.card.needed_trust and self.trusted,
            predictions=self.predictions,
        )

    def _mapping_with_missing(self, mapping: Mapping) -> Mapping:
        """Note whose missing cells the model decides by itself, where there are any."""
        takes = () if self.proof is None else self.proof.takes_missing
        return msgspec.structs.replace(mapping, takes_missing=takes) if takes else mapping

    def data(self) -> Table:
        """Return the data.

        Raises
        ------
        SpecError
            When there are none yet.
        """
        if self.table is None:
            raise SpecError("No data file has been chosen.", remedy="Choose one first.")
        return self.table


def may_be_unknown(column: Column) -> bool:
    """Return whether missing cells of a column can be a category of their own."""
    return column.kind in (Kind.NOMINAL, Kind.ORDINAL) and column.missing > 0


def _attribute(column: Column, choice: Choice, *, unknown: bool) -> Attribute:
    """Make an attribute from its column and what is decided about it."""
    with_unknown = may_be_unknown(column) and unknown
    limits = choice.given
    if column.kind.is_number:
        low, high = choice.limits or (column.low, column.high)
        if choice.limits or choice.step:
            limits = Limit(low=float(low), high=float(high), step=choice.step)
    elif choice.limits:
        missing = next(each for each in UNKNOWN_NAMES if each not in column.values)
        limits = Limit(values=(*choice.limits, missing) if with_unknown else choice.limits)
    return attribute_of(
        column,
        Role.FIXED if column.kind is Kind.TEXT else choice.role,
        limits,
        every_value=choice.every_value,
        unknown=with_unknown,
    )


def _choice(names: Sequence[str], limits: Limits, *, protected: bool) -> Choice:
    """Return what limits say of an attribute, given its name and those of its columns."""
    said = [limits.attributes.get(name) for name in names]
    fixed = any(isinstance(limit, Limit) and limit.role == "fixed" for limit in said)
    if fixed and protected:
        raise SpecError(
            f"The attribute “{names[0]}” cannot be protected and fixed.",
            why="All values of a protected attribute are tested for every instance.",
            remedy="Omit one of the two.",
            setting="limits",
        )
    role = Role.PROTECTED if protected else Role.FIXED if fixed else Role.VARIES
    return Choice(role, given=said[0])

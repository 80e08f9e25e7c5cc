"""Whether a domain has any row, and what the data say of its constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from time import monotonic
from typing import Any, Literal

import msgspec
import numpy as np

from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.dependencies import learn
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.formulas import Dependence, figure, named, quoted
from fairdesk.data.domain.support import Support
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: So many broken rows are named.
_MOST_NAMED = 10


class Checked(msgspec.Struct, frozen=True):
    """What the data say about a constraint.

    Attributes
    ----------
    text : str
        The constraint, as it is always written.
    total : int
        Rows of the table.
    broken : int
        Rows that break it.
    undecided : int
        Rows that neither break nor fulfil it, for a cell is missing or its value not allowed.
    first : tuple[int, ...]
        The numbers of the first rows that break it; the table's first row has number 1.
    """

    text: str
    total: int
    broken: int
    undecided: int
    first: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of rows that break it, from 0 to 1."""
        return self.broken / self.total if self.total else 0.0


def checked(attributes: Sequence[Attribute], table: Table, text: str) -> Checked:
    """Hold a constraint against the rows of the data.

    Parameters
    ----------
    attributes : sequence of Attribute
        What the constraint may speak of; a domain need not be complete.

    Raises
    ------
    SpecError
        When it cannot be read, or an attribute cannot follow another as it says.
    """
    constraint = parse(text, attributes)
    rows = encode(attributes, table)
    if isinstance(constraint, Dependence):
        followable = _followable(attributes, (constraint,))
        _, broken = learn(constraint, followable, table)
        names = [each.name for each in followable]
        pair = [names.index(name) for name in constraint.names]
        decided = ~np.isnan(encode(followable, table)[:, pair]).any(axis=1)
    else:
        broken, decided = ~constraint.holds(rows), constraint.decided(rows)
    return Checked(
        constraint.text,
        len(rows),
        int(broken.sum()),
        int((~decided).sum()),
        tuple((np.flatnonzero(broken)[:_MOST_NAMED] + 1).tolist()),
    )


def constrained_domain(
    attributes: Sequence[Attribute],
    texts: Sequence[str],
    table: Table,
    unseen: Sequence[Attribute] = (),
    support: Support | None = None,
) -> Domain:
    """Make a domain whose people fulfil constraints.

    Parameters
    ----------
    attributes : sequence of Attribute
        In the order of the rows' columns. One that follows another loses the category of missing
        cells: a missing cell does not follow.
    texts : sequence of str
        The constraints; each is kept once, as it is always written.
    table : Table
        The data, from which is learned what follows from what.
    unseen : sequence of Attribute
        Protected columns that the model is not given; no constraint speaks of them.
    support : Support, optional
        What the data support of comparisons, as `learn_support` returns it or as the auditor
        changed it.

    Raises
    ------
    SpecError
        When a text cannot be read, or nothing can be asked about the domain.
    """
    support = support or Support()
    parsed = [parse(text, attributes) for text in (*texts, *support.constraints)]
    dependences = [each for each in parsed if isinstance(each, Dependence)]
    followable = _followable(attributes, dependences)
    determined = {each.text: learn(each, followable, table)[0] for each in dependences}
    for each in parsed:
        parse(each.text, followable)  # may speak of a missing cell that is no value any more
    return Domain(
        followable,
        tuple(dict.fromkeys(each.text for each in parsed[: len(texts)])),
        tuple(determined.values()),
        tuple(unseen),
        support,
    )


def _followable(
    attributes: Sequence[Attribute], dependences: Sequence[Dependence]
) -> tuple[Attribute, ...]:
    """Take the category of missing cells from attributes that follow others."""
    following = {each.attribute for each in dependences}
    return tuple(
        msgspec.structs.replace(each, values=each.named, high=len(each.named) - 1.0, unknown=False)
        if each.unknown and each.name in following
        else each
        for each in attributes
    )


def no_starting_points(domain: Domain) -> SpecError:
    """Return the error that says why none of a table's rows lies in the input domain."""
    if not domain.has_constraints:
        why = "Every row has a missing value or a value that is not allowed."
        remedy = "Widen the allowed values of the input domain."
    else:
        why = (
            "Every row has a missing value or a value that is not allowed, or breaks a constraint."
        )
        remedy = "Widen the allowed values of the input domain, or change or remove a constraint."
    return SpecError(
        "No row of the data lies in the input domain, so there are no starting points.",
        why=why,
        remedy=remedy,
    )


#: How long the solver may take, in seconds.
SECONDS = 5.0
#: Real rows that are looked at before the solver is asked.
_MOST_ROWS = 2_000
#: Values of an attribute that a limit lists.
_MOST_LISTED = 8


class Witness(msgspec.Struct, frozen=True):
    """Whether a domain admits people that can be compared.

    Attributes
    ----------
    admits : str
        ``"yes"``; ``"nobody"``: no person fulfils everything; ``"no pair"``: there are people,
        but none of whom two members of the similar set may exist; ``"undecided"``: that could
        not be decided in time.
    rows : tuple[tuple[float, ...], ...]
        With ``"yes"`` two members of a similar set that are both allowed, in the domain's codes.
        What is fixed is in its range there, but maybe nobody's in the data.
    conflict : tuple[str, ...]
        With ``"nobody"`` or ``"no pair"``: constraints and limits that cannot all hold at once,
        while any of them could be dropped to make the others hold, as far as there was time.
    seconds : float
        How long the solver was given.
    """

    admits: Literal["yes", "nobody", "no pair", "undecided"]
    rows: tuple[tuple[float, ...], ...] = ()
    conflict: tuple[str, ...] = ()
    seconds: float = SECONDS


def check_admits(
    domain: Domain, people: Rows | None = None, *, seconds: float = SECONDS
) -> Witness:
    """Refuse to search a domain that admits nobody who can be compared.

    Parameters and result are those of `admits`; the result is ``"yes"`` or ``"undecided"``.

    Raises
    ------
    SpecError
        With the constraints and limits that contradict each other.
    """
    found = admits(domain, people, seconds=seconds)
    if found.admits in ("yes", "undecided"):
        return found
    what = (
        "No combination of values satisfies all constraints."
        if found.admits == "nobody"
        else "The constraints do not permit any counterfactual pair."
    )
    raise SpecError(
        what,
        why=f"These cannot all be true at once: {'; '.join(found.conflict)}.",
        remedy="Change or remove one of these constraints, or widen the ranges of the attributes.",
    )


def admits(domain: Domain, people: Rows | None = None, *, seconds: float = SECONDS) -> Witness:
    """Return whether there is a person who can be compared with another of the similar set.

    Parameters
    ----------
    people : Rows, optional
        ``(n, d)``; real people in the domain's codes. Where one of them fulfils everything no
        solver is asked.
    seconds : float
        How long the solver may take in all.
    """
    if not domain.has_constraints:
        first, second = domain.similar(domain.low[None])[0, :2].tolist()
        return Witness("yes", (tuple(first), tuple(second)), seconds=seconds)
    pair = None if people is None else _real_pair(domain, people[:_MOST_ROWS])
    if pair is not None:
        return Witness("yes", pair, seconds=seconds)
    return _Solver(domain, seconds).witness()


def _real_pair(domain: Domain, people: Rows) -> tuple[tuple[float, ...], ...] | None:
    """Find a real person of whom two members of the similar set are allowed."""
    size = max(1, 100_000 // len(domain.combinations))
    for start in range(0, len(people), size):
        rows, _ = domain.admit(people[start : start + size])
        members, fine = domain.members(rows)
        enough = np.flatnonzero(fine.sum(axis=1) >= 2)
        if enough.size:
            first, second = members[enough[0]][fine[enough[0]]][:2].tolist()
            return tuple(first), tuple(second)
    return None


class _Solver:
    """The domain as a question to z3."""

    def __init__(self, domain: Domain, seconds: float) -> None:
        # slow to load, and needed only where no real row is a witness
        z3: Any = import_module("z3")
        self._z3 = z3
        self._domain = domain
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self._person = UnknownPerson(z3, domain, "a")
        self._partner = UnknownPerson(z3, domain, "b")

    def witness(self) -> Witness:
        alone = list(conditions(self._domain, self._person))
        both = [*conditions(self._domain, self._person, self._partner), self._comparable()]
        answer, model = self._ask(both)
        if answer == "yes":
            # the solver is exact where floating point is not
            rows = self._domain.clip(np.array([self._person.row(model), self._partner.row(model)]))
            if not self._domain.contains(rows).all():
                return Witness("undecided", seconds=self._seconds)
            first, second = rows.tolist()
            return Witness("yes", (tuple(first), tuple(second)), (), self._seconds)
        if answer == "undecided":
            return Witness("undecided", seconds=self._seconds)
        answer, _ = self._ask(alone)
        if answer == "no":
            return Witness("nobody", (), self._core(alone), self._seconds)
        return Witness("no pair", (), self._core(both), self._seconds)

    def _comparable(self) -> tuple[str, Any]:
        """Return the condition that two rows are members of one similar set."""
        names, first, second = self._domain.names, self._person.codes, self._partner.codes
        protected = [names[i] for i in self._domain.protected]
        equal = [first[names[i]] == second[names[i]] for i in self._domain.identifying]
        differ = [first[name] != second[name] for name in protected]
        return (
            f"two instances differ in {', '.join(named(name) for name in protected)} only",
            self._z3.And(*equal, self._z3.Or(*differ)),
        )

    def _ask(self, conditions: Sequence[tuple[str, Any]]) -> tuple[str, Any]:
        left = self._deadline - monotonic()
        if left <= 0:
            return "undecided", None
        solver = self._z3.Solver()
        solver.set("timeout", max(1, int(1000 * left)))
        solver.add(*(condition for _, condition in conditions))
        found = solver.check()
        if found == self._z3.sat:
            return "yes", solver.model()
        return ("no", None) if found == self._z3.unsat else ("undecided", None)

    def _core(self, conditions: list[tuple[str, Any]]) -> tuple[str, ...]:
        """Drop what is not needed for the contradiction: limits first, then constraints."""
        needed = list(conditions)
        for condition in conditions:
            rest = [each for each in needed if each is not condition]
            if self._ask(rest)[0] == "no":
                needed = rest
        return tuple(text for text, _ in needed)


def conditions(domain: Domain, *people: UnknownPerson) -> Iterator[tuple[str, Any]]:
    """Yield everything that must hold of people, with its words.

    Parameters
    ----------
    domain : Domain
        Who may be.
    """
    following = {each.attribute for each in domain.determined}
    for attribute in domain.attributes:
        if attribute.name in following:
            text = next(
                Dependence(each.attribute, each.by).text
                for each in domain.determined
                if each.attribute == attribute.name
            )
            parts = [person.follows(attribute.name) for person in people]
        else:
            text, parts = _limit(attribute), [person.limit(attribute) for person in people]
        yield text, people[0].every(parts)
    for constraint in domain.all_rules:
        holds = [~constraint.formula.truth(person)[1] for person in people]
        yield constraint.text, people[0].every(holds)


class UnknownPerson:
    """A person as unknowns of the solver; says what is so, as a formula's `Terms`.

    Parameters
    ----------
    solver : module
        z3.
    prefix : str
        What the unknowns' names begin with: another one for each person.

    Attributes
    ----------
    codes : dict[str, Any]
        The term for the code of each attribute, by its name.
    """

    def __init__(self, solver: Any, domain: Domain, prefix: str) -> None:  # noqa: ANN401 - z3
        self._z3 = solver
        self._attributes = {each.name: each for each in domain.attributes}
        self._determined = {each.attribute: each for each in domain.determined}
        self._steps = {
            each.name: solver.Int(f"{prefix}{i}") if each.spacing else solver.Real(f"{prefix}{i}")
            for i, each in enumerate(domain.attributes)
        }
        self.codes = {name: self._code(name) for name in domain.names}

    def _code(self, name: str) -> Any:  # noqa: ANN401 - a term of the solver
        attribute, steps = self._attributes[name], self._steps[name]
        if not attribute.spacing:
            return steps
        low, spacing = self.constant(attribute.low), self.constant(attribute.spacing)
        return low + self._z3.ToReal(steps) * spacing

    def limit(self, attribute: Attribute) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the condition that an attribute has one of its values."""
        code = self.codes[attribute.name]
        if attribute.role is Role.PROTECTED:
            return self._any(code == self.constant(one) for one in attribute.compared)
        return self._z3.And(
            code >= self.constant(attribute.low), code <= self.constant(attribute.high)
        )

    def follows(self, attribute: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the condition that an attribute has the value that its determining one implies."""
        each = self._determined[attribute]
        return self._any(
            self._z3.And(
                self.codes[each.by] == self.constant(code),
                self.codes[attribute] == self.constant(after),
            )
            for code, after in each.values
        )

    def row(self, model: Any) -> tuple[float, ...]:  # noqa: ANN401 - a model of the solver
        """Read the person's codes from what the solver found."""
        return tuple(self.value(model, code) for code in self.codes.values())

    def value(self, model: Any, code: Any) -> float:  # noqa: ANN401 - a model and its term
        """Read one code from what the solver found."""
        found = model.eval(code, model_completion=True)
        # a root that is no fraction is near enough: it is looked at again in floating point
        exact = found.approx(20) if self._z3.is_algebraic_value(found) else found
        return float(exact.as_fraction())

    def every(self, parts: Iterable[Any]) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the conjunction of conditions."""
        return self._z3.And(*parts)

    def known(self, name: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return whether the attribute's cell is there."""
        attribute = self._attributes[name]
        if not attribute.unknown:
            return self._z3.BoolVal(val=True)
        return self.codes[name] != self.constant(attribute.unknown_code)

    def has(self, name: str, value: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return whether the attribute has this value."""
        return self.codes[name] == self.place_of(name, value)

    def alike(self, first: str, second: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return whether two attributes have values of the same text."""
        shared = [
            value
            for value in self._attributes[first].named
            if value in self._attributes[second].named
        ]
        return self._any(
            self._z3.And(self.has(first, value), self.has(second, value)) for value in shared
        )

    def place(self, name: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the place of the attribute's value in its order."""
        return self.codes[name]

    def place_of(self, name: str, value: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the place of one value in the attribute's order."""
        return self.constant(self._attributes[name].values.index(value))

    def number(self, name: str) -> Any:  # noqa: ANN401 - a term of the solver
        """Return the number that the attribute has."""
        code, number = self.codes[name], self.constant(0.0)
        values = self._attributes[name].values
        if not values:
            return code
        for i, value in enumerate(values):
            number = self._z3.If(code == self.constant(i), self.constant(float(value)), number)
        return number

    def constant(self, value: float) -> Any:  # noqa: ANN401 - a term of the solver
        """Return a number, exactly."""
        return self._z3.RealVal(str(Fraction(repr(float(value)))))

    def equal(self, left: Any, right: Any) -> Any:  # noqa: ANN401 - terms of the solver
        """Return whether two numbers are equal."""
        return left == right

    def less(self, left: Any, right: Any) -> Any:  # noqa: ANN401 - terms of the solver
        """Return whether one number is less than another."""
        return left < right

    def _any(self, parts: Iterable[Any]) -> Any:  # noqa: ANN401 - a term of the solver
        return self._z3.Or(*parts)


def _limit(attribute: Attribute) -> str:
    """Write an attribute's limit in words."""
    name = named(attribute.name)
    if attribute.values or attribute.role is Role.PROTECTED:
        texts = attribute.values or tuple(attribute.text(code) for code in attribute.compared)
        shown = ", ".join(
            quoted(text) if attribute.values else text for text in texts[:_MOST_LISTED]
        )
        more = f" and {len(texts) - _MOST_LISTED:,} more" if len(texts) > _MOST_LISTED else ""
        return f"{name} is one of {shown}{more}"
    return f"{name} is from {figure(attribute.low)} to {figure(attribute.high)}"

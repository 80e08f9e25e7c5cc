"""Tables of rates in published categories, from counts alone: 6 RCNY 5-301 (Local Law 144, LL144).

The groups of an audit are those of its data's values. Here their counts are added up into the
categories that a published summary uses, and compared anew. Counts are whole numbers and rates are
fractions until they are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Categories
from fairdesk.data.domain.attributes import Attribute
from fairdesk.groups.options import LEAST_SHARE
from fairdesk.results.groups import GroupTable

#: What a table divides people by.
By = Literal["sex", "race", "both"]
#: What stands behind a race where Hispanic or Latino is a category of its own.
NOT_HISPANIC = " (Not Hispanic or Latino)"


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the names of columns and values tell sex or race."""

    column: str
    categories: dict[str, str]
    first: tuple[str, ...] = ()


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unknown: str
    denied: str
    sex: _Told
    race: _Told


_NAMES = msgspec.toml.decode(Path(__file__).with_name("categories.toml").read_bytes(), type=_Names)
#: The categories of the EEO-1 report (component 1), in the order of the rule's examples.
SEXES, RACES = (tuple(told.categories) for told in (_NAMES.sex, _NAMES.race))
HISPANIC = RACES[0]


class Line(msgspec.Struct, frozen=True):
    """A category, or an intersection of two.

    Attributes
    ----------
    names : tuple[str, ...]
        The category of each attribute.
    n_samples, chosen : int
        How many are in it; how many of them were selected, or have a score on the favourable
        side of the median.
    excluded : bool
        Under the least share of the n_samples: left out of the impact ratios.
    ratio : Fraction, optional
        Its rate by the highest of those that are not excluded; ``None`` where there is none.
    """

    names: tuple[str, ...]
    n_samples: int
    chosen: int
    excluded: bool = False
    ratio: Fraction | None = None

    @property
    def rate(self) -> Fraction | None:
        """The selection rate, or scoring rate; ``None`` of nobody."""
        return Fraction(self.chosen, self.n_samples) if self.n_samples else None


class Published(msgspec.Struct, frozen=True):
    """A table by published categories.

    Attributes
    ----------
    by : str
        ``"sex"``, ``"race"``, or ``"both"`` together.
    of : str
        ``"decisions"`` (who was selected) or ``"scores"`` (who has one on the
        favourable side of the median).
    outcome : str
        Which decision, or whose score.
    attributes : tuple[str, ...]
        The attributes; of both, sex first.
    lines : tuple[Line, ...]
        The categories, in the order of the rule's examples.
    n_samples : int
        ``N``: people of known category. The least share is of these.
    unknown, without : int
        People of unknown category; without an outcome.
    median, ties : float, optional
        Of scores: of the full sample; the share of people right at it.
    falls : bool
        Of scores: whether the lower ones are favourable.
    """

    by: By
    of: Literal["decisions", "scores"]
    outcome: str
    attributes: tuple[str, ...]
    lines: tuple[Line, ...]
    n_samples: int
    unknown: int
    without: int
    median: float | None = None
    ties: float | None = None
    falls: bool = False

    @property
    def best(self) -> Line | None:
        """The category with the highest rate; ``None`` where nothing is compared."""
        return next((line for line in self.lines if line.ratio == 1), None)

    @property
    def worst(self) -> Line | None:
        """The category with the lowest impact ratio; ``None`` where fewer than two have one."""
        compared = [line for line in self.lines if line.ratio is not None]
        return min(compared, key=lambda line: line.ratio or 0) if len(compared) > 1 else None


def tables(
    groups: Sequence[GroupTable], categories: Categories, least_share: float = LEAST_SHARE
) -> tuple[Published, ...]:
    """Make the tables of sex, of race or ethnicity, and of both, from the counts of groups.

    Parameters
    ----------
    groups : sequence of GroupTable
        What was counted; only the numbers of people and of those chosen are used.
    categories : Categories
        Which attributes tell sex and race, and what their values are called.
    least_share : float
        Categories with a smaller share of the people of known category are left out of the
        comparison (6 RCNY 5-301(d)).

    Returns
    -------
    tuple of Published
        Per decision, and then per score, those of the three that were counted.
    """
    asked: tuple[tuple[By, tuple[str, ...]], ...] = (
        ("sex", (categories.sex,)),
        ("race", (categories.race,)),
        ("both", (categories.sex, categories.race)),
    )
    made = []
    for of in ("decisions", "scores"):
        held = [table for table in groups if table.of == of]
        for outcome in dict.fromkeys(table.outcome for table in held):
            for by, names in asked:
                for table in held:
                    if table.outcome == outcome and sorted(table.attributes) == sorted(names):
                        made.append(_table(table, by, names, categories, least_share))
                        break
    return tuple(made)


def _table(
    table: GroupTable, by: By, names: tuple[str, ...], categories: Categories, least_share: float
) -> Published:
    places = [table.attributes.index(name) for name in names]
    people: Counter[tuple[str, ...]] = Counter()
    chosen: Counter[tuple[str, ...]] = Counter()
    hidden = 0
    for line in table.lines:
        if not line.known:
            continue
        named = tuple(
            category(categories, name, line.values[place])
            for name, place in zip(names, places, strict=True)
        )
        if all(named):
            people[named] += line.n_samples
            chosen[named] += line.favourable
        else:
            hidden += line.n_samples
    known = table.n_samples - hidden
    lines = [
        Line(named, count, chosen[named], count < Fraction(str(least_share)) * known)
        for named, count in sorted(people.items(), key=lambda item: _order(names, item[0]))
    ]
    return Published(
        by=by,
        of="scores" if table.of == "scores" else "decisions",
        outcome=table.outcome,
        attributes=names,
        lines=tuple(_compared(lines)),
        n_samples=known,
        unknown=table.unknown + hidden,
        without=table.without,
        median=table.median,
        ties=table.ties,
        falls=table.falls,
    )


def _compared(lines: Sequence[Line]) -> Iterator[Line]:
    rates = [line.rate for line in lines if not line.excluded and line.rate is not None]
    best = max(rates, default=Fraction(0))
    for line in lines:
        if line.excluded or line.rate is None or not best:
            yield line
        else:
            yield msgspec.structs.replace(line, ratio=line.rate / best)


def category(categories: Categories, attribute: str, value: str) -> str:
    """Return the category of a value; empty where that counts as unknown."""
    return categories.names.get(attribute, {}).get(value, value)


def race_alone(name: str) -> str:
    """Return a race's name without what it says of ethnicity."""
    return name.removesuffix(NOT_HISPANIC)


def _order(attributes: Sequence[str], names: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Say where a category stands: as in the rule's examples, then by its name."""
    known = (*SEXES, *RACES)
    plain = [race_alone(name) for name in names]
    if len(attributes) > 1:
        # Hispanic or Latino of both sexes first, then the others by sex
        plain = ["0" if plain[1] == HISPANIC else "1", *plain]
    return tuple((known.index(name) if name in known else len(known), name) for name in plain)


def propose_categories(spec: AuditSpec) -> Categories:
    """Propose which attributes tell sex and race, and what to call their values.

    By the names of columns and values alone. What is not clearly one category of the EEO-1 report
    is left out, and so is a category of its own; what says that it is not known counts as unknown.

    Parameters
    ----------
    spec : AuditSpec
        The question; its attributes that tell groups apart are looked at.
    """
    sex, race = (
        next(
            (each for each in spec.domain.grouping if re.search(told.column, _plain(each.name))),
            None,
        )
        for told in (_NAMES.sex, _NAMES.race)
    )
    names = {}
    if sex is not None:
        names[sex.name] = _named(sex, {value: _proposed(value, _NAMES.sex) for value in sex.values})
    if race is not None:
        proposed = {value: _proposed(value, _NAMES.race) for value in race.values}
        if HISPANIC in proposed.values():
            proposed = {
                value: name + NOT_HISPANIC if name in RACES and name != HISPANIC else name
                for value, name in proposed.items()
            }
        names[race.name] = _named(race, proposed)
    return Categories(
        sex="" if sex is None else sex.name,
        race="" if race is None else race.name,
        names={name: named for name, named in names.items() if named},
    )


def _named(attribute: Attribute, names: dict[str, str | None]) -> dict[str, str]:
    """Keep what is proposed; a missing cell is unknown already."""
    missing = attribute.values[-1:] if attribute.unknown else ()
    return {
        value: name for value, name in names.items() if name is not None and value not in missing
    }


def _plain(text: str) -> str:
    """Write a name in small letters, its words apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return re.sub(r"[^a-z0-9?]+", " ", apart.lower()).strip()


def _proposed(value: str, told: _Told) -> str | None:
    """Return the category of a value, empty where it is not known; none where that is not clear."""
    plain = re.sub(_NAMES.denied, "", _plain(value)).strip()
    if not plain or re.match(_NAMES.unknown, plain):
        return ""
    found = [name for name, pattern in told.categories.items() if re.search(pattern, plain)]
    first = [name for name in told.first if name in found]
    return first[0] if first else found[0] if len(found) == 1 else None

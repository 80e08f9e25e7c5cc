"""From what somebody names (columns, values, limits) to the frozen question of an audit."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from pathlib import Path

import msgspec

from fairdesk.data.domain.attributes import Attribute, Limit, Role, attribute_of
from fairdesk.data.domain.constraint_check import constrained_domain
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.outcomes import canonical
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import SpecError
from fairdesk.models.model import Mapping

#: Limits by the attributes' names.
Attributes = dict[str, Limit | tuple[int | float | str, ...]]


#: Columns of these kinds tell no people apart.
_NO_PEOPLE = (Kind.IGNORED, Kind.TEXT)


#: How a file of terms is written.
_TERMS = 'It is JSON, like {"gender": ["gay", "straight"], "age": ["young", "elderly"]}.'


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What may be asked about, where that is not simply what the data hold.

    Attributes
    ----------
    attributes : dict[str, Limit or tuple]
        Per attribute's name its limit; or, as `attribute_of` takes it, ``[low, high]`` or a list
        of values.
    constraints : tuple[str, ...]
        What everybody fulfils, as `fairdesk.data.domain.constraints` reads it.
    """

    attributes: Attributes = msgspec.field(default_factory=dict)
    constraints: tuple[str, ...] = ()


def read_limits(path: Path) -> Limits:
    """Read limits from a JSON file.

    It is either an object with one or both of ``"attributes"`` and ``"constraints"``, or short: the
    attributes themselves. A file is read as the first wherever it can be.

    Raises
    ------
    SpecError
        When the file cannot be read or is something else.
    """
    try:
        return _decoded(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError as error:
        raise SpecError(
            f"The domain file “{path}” cannot be read.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Check its name.",
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The domain file “{path}” is not what is expected.",
            why=f"{error}.",
            remedy='It is JSON, like {"age": [18, 90], "sex": ["female", "male"]}, or like '
            '{"attributes": {"loan": {"low": 0, "high": 5000, "step": 50}, "county": '
            '{"role": "fixed"}}, "constraints": ["years_employed <= age - 14"]}.',
        ) from error


def _decoded(text: bytes) -> Limits:
    members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    if members.keys() - {"attributes", "constraints"}:
        attributes = msgspec.json.decode(text, type=Attributes)
        return Limits(attributes)
    try:
        return msgspec.json.decode(text, type=Limits)
    except msgspec.ValidationError as error:
        # columns may have these names
        try:
            return Limits(msgspec.json.decode(text, type=Attributes))
        except msgspec.ValidationError:
            raise error from None


def read_terms(path: Path) -> dict[str, tuple[str, ...]]:
    """Read terms by category from a JSON file: an object of lists of texts.

    Raises
    ------
    SpecError
        When the file cannot be read, is something else, or has no category.
    """
    try:
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        terms = msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
    except OSError as error:
        raise SpecError(
            f"The file of terms “{path}” cannot be read.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Check its name.",
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The file of terms “{path}” is not what is expected.", why=f"{error}.", remedy=_TERMS
        ) from error
    if not terms:
        raise SpecError(f"The file of terms “{path}” has no category.", remedy=_TERMS)
    return terms


def favourable_text(table: Table, label: str, wanted: str) -> str:
    """Return the favourable value as the label column writes it.

    Parameters
    ----------
    table : Table
        The data.
    label : str
        The column with the decision.
    wanted : str
        The value as somebody typed it, several joined by " or ", or a comparison like ">= 50".

    Raises
    ------
    DataError
        When there is no such column; the message lists those there are.
    SpecError
        When the column has no such value; the message lists those it has.
    """
    return canonical(table, label, wanted)


def domain_of(
    table: Table,
    mapping: Mapping,
    label: str,
    protected: Collection[str],
    limits: Limits | None = None,
    *,
    takes_missing: Collection[str] = (),
    predictions: str = "",
) -> Domain:
    """Make the domain of the columns that the model uses.

    Parameters
    ----------
    table : Table
        The data.
    mapping : Mapping
        Which columns the model uses; others cannot matter, so nobody is varied in them.
    label : str
        The column with the decision; never an attribute.
    protected : collection of str
        The columns to compare. Those that the model is not given tell groups apart only.
    limits : Limits, optional
        What may be asked about; what is left out is as in the data.
    takes_missing : collection of str
        The columns in which the model can be sent a missing cell. Those of them that are names
        and have missing cells get the category “Unknown”; of all others, and of numbers, rows
        with missing cells are set aside.
    predictions : str
        The column with the model's decisions, where the model is not at hand: then every other
        column that tells people apart is an attribute.

    Raises
    ------
    DataError
        When there is no such column.
    SpecError
        When a protected or limited column is no attribute, limits or constraints do not fit, or
        no search can work on the domain.
    """
    limits = limits or Limits()
    used = {made.attribute for made in mapping.inputs}
    if predictions:
        takes_missing = table.names
        used = {each.name for each in table.columns if each.kind not in _NO_PEOPLE} - {predictions}
    names = [name for name in table.names if name in used and name != label]
    for name in protected:
        table.index(name)
        if name == label:
            raise SpecError(
                f"The label column “{name}” cannot be protected.",
                remedy=f"Protect one of the others: {', '.join(names)}.",
            )
    unseen = [name for name in table.names if name in protected and name not in names]
    strangers = [name for name in limits.attributes if name not in (*names, *unseen)]
    if strangers:
        raise SpecError(
            f"The domain names “{strangers[0]}”, which is no attribute of this audit.",
            remedy=f"The attributes are: {', '.join((*names, *unseen))}.",
        )

    def attribute(name: str, *, unknown: bool) -> Attribute:
        column = table.column(name)
        role = _role(column, protected, limits)
        unknown = column.missing > 0 and unknown
        return attribute_of(column, role, limits.attributes.get(name), unknown=unknown)

    attributes = [attribute(name, unknown=name in takes_missing) for name in names]
    # nobody has to be asked about with what a model is not given: unknown is one more group
    others = [attribute(name, unknown=True) for name in unseen]
    return constrained_domain(attributes, limits.constraints, table, others)


def _role(column: Column, protected: Collection[str], limits: Limits) -> Role:
    """Say what a search may do with a column."""
    limit = limits.attributes.get(column.name)
    fixed = isinstance(limit, Limit) and limit.role == "fixed"
    if column.name not in protected:
        return Role.FIXED if fixed or column.kind is Kind.TEXT else Role.VARIES
    if fixed:
        raise SpecError(
            f"The attribute “{column.name}” cannot be protected and fixed.",
            why="All values of a protected attribute are tried on every person.",
            remedy="Leave out one of the two.",
        )
    return Role.PROTECTED

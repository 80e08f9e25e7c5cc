"""From what somebody names (columns, values, limits) to the frozen question of an audit."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence
from collections.abc import Mapping as AnyMapping
from pathlib import Path

import msgspec

from fairdesk.data.domain import Domain, Role, attribute_of
from fairdesk.data.outcomes import canonical
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.models.model import Mapping

#: Per attribute's name ``[low, high]`` or a list of values, as `attribute_of` takes them.
Limits = dict[str, list[int | float | str]]


def read_limits(path: Path) -> Limits:
    """Read the limits of attributes from a JSON file.

    Raises
    ------
    SpecError
        When the file cannot be read or is something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes().removeprefix(codecs.BOM_UTF8), type=Limits)
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
            remedy='It is JSON, like {"age": [18, 90], "sex": ["female", "male"]}.',
        ) from error


def favourable_text(table: Table, label: str, wanted: str) -> str:
    """Give the favourable value as the label column writes it.

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
    limits: AnyMapping[str, Sequence[float | str]],
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
        The columns to compare.
    limits : mapping
        Per column ``[low, high]`` or a list of values; the data's own where left out.

    Raises
    ------
    DataError
        When there is no such column.
    SpecError
        When a protected or limited column is no attribute, limits do not fit, or no search can
        work on the domain.
    """
    used = {made.attribute for made in mapping.inputs}
    names = [name for name in table.names if name in used and name != label]
    for name in protected:
        table.index(name)
        if name == label:
            raise SpecError(
                f"The label column “{name}” cannot be protected.",
                remedy=f"Protect one of the others: {', '.join(names)}.",
            )
        if name not in used:
            raise SpecError(
                f"The model does not use the column “{name}”, so its decision cannot hang on it.",
                remedy=f"Protect one of the columns that it uses: {', '.join(names)}.",
            )
    strangers = [name for name in limits if name not in names]
    if strangers:
        raise SpecError(
            f"The domain names “{strangers[0]}”, which is no attribute of this audit.",
            remedy=f"The attributes are: {', '.join(names)}.",
        )
    return Domain(
        tuple(
            attribute_of(
                table.column(name),
                Role.PROTECTED if name in protected else Role.VARIES,
                limits.get(name),
            )
            for name in names
        )
    )

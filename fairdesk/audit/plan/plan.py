"""What somebody names in files: limits of the domain, and terms."""

from __future__ import annotations

import codecs
from pathlib import Path

import msgspec

from fairdesk.data.domain.attributes import Limit
from fairdesk.data.domain.support import CompanionValues
from fairdesk.errors import SpecError, system_errors

#: Limits by the attributes' names.
Attributes = dict[str, Limit | tuple[int | float | str, ...]]
#: How a file of terms is written.
_TERMS = 'The file must be JSON, like {"gender": ["gay", "straight"], "age": ["young", "elderly"]}.'


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
    with system_errors(SpecError, f"The domain file “{path}” cannot be read.", "Check its name."):
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return _decoded(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The domain file “{path}” does not have the expected format.",
            why=f"{error}.",
            remedy=(
                'The file must be JSON, like {"age": [18, 90], "sex": ["female", '
                '"male"]}, or like {"attributes": {"loan": {"low": 0, "high": 5000, '
                '"step": 50}, "county": {"role": "fixed"}}, "constraints": '
                '["years_employed <= age - 14"]}.'
            ),
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


def read_companions(path: Path) -> dict[str, CompanionValues]:
    """Read which attributes change with a protected one from a JSON file.

    Raises
    ------
    SpecError
        When the file cannot be read or is something else.
    """
    what = f"The file of companions “{path}” cannot be read."
    with system_errors(SpecError, what, "Check its name."):
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(text, type=dict[str, CompanionValues])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The file of companions “{path}” does not have the expected format.",
            why=f"{error}.",
            remedy=(
                'The file must be JSON, like {"relationship": {"with": "sex", "values": {"Female": '
                '{"Husband": "Wife"}, "Male": {"Wife": "Husband"}}}}. “fairdesk inspect --json” '
                "writes those that it finds in this form."
            ),
        ) from error


def read_terms(path: Path) -> dict[str, tuple[str, ...]]:
    """Read terms by category from a JSON file: an object of lists of texts.

    Raises
    ------
    SpecError
        When the file cannot be read, is something else, or has no category.
    """
    with system_errors(
        SpecError, f"The file of identity terms “{path}” cannot be read.", "Check its name."
    ):
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        terms = msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The file of identity terms “{path}” does not have the expected format.",
            why=f"{error}.",
            remedy=_TERMS,
        ) from error
    if not terms:
        raise SpecError(f"The file of identity terms “{path}” has no category.", remedy=_TERMS)
    return terms

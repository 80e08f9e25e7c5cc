"""Reading a certificate that may come from anybody, and refusing one that contradicts itself."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import companion_of, tied
from fairdesk.certify.proof.certificate import (
    ARRAYS,
    COUNTED,
    HEADER,
    NOBODY,
    RATE_ARRAYS,
    UNDECIDED,
    Arrays,
    CertificateError,
    Header,
    decoded,
    malformed,
)

#: Places along an axis are below this.
_MOST_PLACES = 1 << 62


def read(source: Path | BinaryIO) -> tuple[Header, dict[str, NDArray[Any]]]:
    """Read a certificate that may come from anybody.

    Returns
    -------
    Header
        What it says.
    dict[str, NDArray]
        The arrays, each well-formed: see `check`.

    Raises
    ------
    CertificateError
        When it cannot be read, is none, or contradicts itself.
    """
    header, arrays = unpack(source)
    document = decoded(header)
    check(document, arrays)
    return document, arrays


def unpack(source: Path | BinaryIO) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return the parts of an archive, whatever it says.

    Raises
    ------
    CertificateError
        When it cannot be read, or is no archive of a header and arrays.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            rated = any(f"{name}.npy" in infos for name in RATE_ARRAYS)
            wanted = (*ARRAYS, *(RATE_ARRAYS if rated else ()))
            names = {HEADER, *(f"{name}.npy" for name in wanted)}
            if set(infos) != names or len(archive.infolist()) != len(names):
                raise malformed("it contains other files than a proof certificate does")
            if infos[HEADER].file_size > MOST_HEADER_BYTES:
                raise malformed("its header is too long")
            if sum(info.file_size for info in infos.values()) > MOST_ARRAY_BYTES:
                raise malformed("its arrays are too large")
            header = archive.read(infos[HEADER])
            arrays = {name: _array(name, archive.read(f"{name}.npy")) for name in wanted}
    except OSError as error:
        raise CertificateError(
            "The proof certificate cannot be read.",
            why=f"The system reported: {error.strerror or error}.",
            remedy="Check the name of the file and your read permission.",
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise malformed(f"it is not an archive, or it is damaged: {error}") from error
    return header, arrays


def _array(name: str, data: bytes) -> NDArray[Any]:
    """Read an array from the bytes of a ``.npy`` file."""
    kind, dimensions = {**ARRAYS, **RATE_ARRAYS}[name]
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise malformed(f"its array “{name}” has another format")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, SyntaxError, EOFError, TypeError, MemoryError, RecursionError) as error:
        raise malformed(f"its array “{name}” cannot be read") from error
    start = stream.tell()
    room = len(data) - start
    fits = dtype.kind == kind and dtype.itemsize <= 8 and len(shape) == dimensions
    fits = fits and not (by_column and dimensions > 1)
    if not fits or int(np.prod([dtype.itemsize, *shape], dtype=object)) != room:
        raise malformed(f"its array “{name}” is invalid")
    return np.frombuffer(data, dtype, offset=start).reshape(shape)


def check(header: Header, arrays: Arrays) -> None:
    """Refuse a header and arrays that do not fit each other, or are no tree of boxes.

    That cuts lie inside their boxes is checked by `leaves`.

    Raises
    ------
    CertificateError
        With what is wrong.
    """
    rated = any(name in arrays for name in RATE_ARRAYS)
    for name, (kind, dimensions) in (ARRAYS | (RATE_ARRAYS if rated else {})).items():
        array = arrays.get(name)
        if array is None or array.dtype.kind != kind or array.ndim != dimensions:
            raise malformed(f"its array “{name}” is invalid")
    _check_header(header)
    _check_roots(header, arrays)
    _check_tree(header, arrays)
    if rated:
        _check_rates(header, arrays)


def _check_header(header: Header) -> None:
    """Refuse axes, masks and totals that cannot be."""
    domain = header.domain
    free = [domain.names[i] for i in np.setdiff1d(domain.identifying, domain.following)]
    if [axis.attribute for axis in header.axes] != free:
        raise malformed("its axes are not the attributes of its domain")
    for axis in header.axes:
        codes = np.array(axis.codes)
        if (
            not 1 <= axis.count < _MOST_PLACES
            or (codes.size and codes.size != axis.count)
            or len(set(axis.codes)) != len(axis.codes)
            or not np.isfinite([*axis.codes, axis.low, axis.spacing, axis.grid]).all()
            or not axis.spacing > 0
            or not axis.grid > 0
        ):
            raise malformed(f"its axis “{axis.attribute}” is impossible")
    combinations = len(domain.combinations)
    if any(len(row) != combinations for row in header.may_be):
        raise malformed("its combinations of protected values are not those of its domain")
    known = {domain.names[i]: domain.attributes[i].compared for i in domain.protected.tolist()}
    for rates in header.rates:
        codes = known.get(rates.attribute, ())
        if not rates.groups or any(each.code not in codes for each in rates.groups):
            raise malformed("it has rates of groups that its domain does not have")
    totals = (header.total, header.certified, header.falsified, header.undecided)
    if not all(each.isdecimal() and each.isascii() and len(each) < 4_000 for each in totals):
        raise malformed("its totals are not whole numbers")
    shares = (header.certified_share, header.falsified_share, header.undecided_share)
    if not all(0.0 <= share <= 1.0 for share in shares):
        raise malformed("its shares are not between 0 and 1")


def _check_roots(header: Header, arrays: Arrays) -> None:
    """Refuse roots that leave the axes."""
    low, high = arrays["root_low"], arrays["root_high"]
    roots, axes = low.shape
    counts = np.array([axis.count for axis in header.axes], dtype=np.int64)
    if high.shape != low.shape or axes != len(counts) or roots != len(header.groups) or not roots:
        raise malformed("its roots do not fit its axes")
    if not ((low >= 0) & (low <= high) & (high < counts)).all():
        raise malformed("its roots leave its axes")
    if not all(0 <= group < len(header.may_be) for group in header.groups):
        raise malformed("its roots refer to combinations that are not listed")
    if not all(0 <= root < roots for root in header.unclear):
        raise malformed("it refers to roots that do not exist")
    _check_ties(header, low, high)


def _check_ties(header: Header, low: NDArray[Any], high: NDArray[Any]) -> None:
    """Refuse roots in which the code of a companion depends on the combination for some points."""
    some = np.array([any(row) for row in header.may_be], dtype=np.bool_)
    clear = np.setdiff1d(np.flatnonzero(some[list(header.groups)]), header.unclear)
    groups = np.array(header.groups)[clear]
    for i, axis in enumerate(header.axes):
        own = tied(header.domain, axis.attribute, axis.codes)
        if companion_of(header.domain, axis.attribute) is None:
            continue
        if len(own) != axis.count:
            raise malformed(f"its axis “{axis.attribute}” does not list its values")
        before = np.concatenate([[0], np.cumsum(own)])
        first, last = low[clear, i], high[clear, i]
        count = before[last + 1] - before[first]
        place = np.where(count > 0, first, -1)
        kinds = np.unique(np.column_stack((groups, place)), axis=0)
        if (count[first < last] > 0).any() or len(kinds) != len(np.unique(groups)):
            raise malformed(f"its roots mix different values of “{axis.attribute}”")


def _check_tree(header: Header, arrays: Arrays) -> None:
    """Refuse nodes that make no tree, and leaves that say what cannot be."""
    first, verdict, axis = (arrays[name] for name in ("first", "verdict", "axis"))
    consistent, discriminatory = arrays["consistent"], arrays["discriminatory"]
    n, roots = len(first), len(header.groups)
    if n < roots or any(len(arrays[name]) != n for name in ARRAYS if not name.startswith("root")):
        raise malformed("its arrays have different lengths")
    _check_nodes(first, axis, roots, len(header.axes))
    is_inner = first != -1
    if not ((verdict == -1) == is_inner).all() or not ((verdict >= -1) & (verdict <= NOBODY)).all():
        raise malformed("some of its regions have an unknown verdict")
    stated = (verdict == UNDECIDED) | (verdict == COUNTED)
    consistent, discriminatory = consistent[stated], discriminatory[stated]
    # NaN is in no range
    people = (arrays[f"people_{each}"][stated] for each in ("consistent", "discriminatory"))
    for first, second in ((consistent, discriminatory), tuple(people)):
        if not ((first >= 0) & (second >= 0) & (first + second <= 1 + 2.0**-40)).all():
            raise malformed("some of its regions have impossible shares")


def _check_nodes(first: NDArray[Any], axis: NDArray[Any], roots: int, axes: int) -> None:
    """Refuse nodes that make no tree with so many roots and axes."""
    n, inner = len(first), np.flatnonzero(first != -1)
    children = first[inner].astype(np.int64)
    if not ((children > inner) & (children >= roots) & (children < n - 1)).all():
        raise malformed("some of its regions have impossible subregions")
    parents = np.bincount(children, minlength=n) + np.bincount(children + 1, minlength=n)
    if not ((parents[:roots] == 0).all() and (parents[roots:] == 1).all()):
        raise malformed("its regions do not form a tree")
    if not ((axis >= np.where(first != -1, 0, -1)) & (axis < axes)).all():
        raise malformed("some of its regions are divided along an axis that does not exist")


def _check_rates(header: Header, arrays: Arrays) -> None:
    """Refuse boxes of rates that make no tree, and leaves that say what cannot be."""
    n, roots = len(arrays["rate_first"]), len(rate_roots(header)[0])
    if n < roots or any(len(arrays[name]) != n for name in RATE_ARRAYS):
        raise malformed("its arrays have different lengths")
    _check_nodes(arrays["rate_first"], arrays["rate_axis"], roots, len(header.axes))
    favourable, other = arrays["rate_favourable"], arrays["rate_other"]
    # NaN is in no range
    if not ((favourable >= 0) & (other >= 0) & (favourable + other <= 1 + 2.0**-40)).all():
        raise malformed("some of its regions have impossible shares")


def rate_roots(header: Header) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return combination and root of each root of the boxes of rates, ``(r,)`` each."""
    may_be = np.array(header.may_be, dtype=np.bool_)[list(header.groups)]
    may_be[list(header.unclear)] = False
    combination, root = np.nonzero(may_be.T)
    return combination, root


#: Larger ones are not read.
MOST_HEADER_BYTES = 64 << 20
MOST_ARRAY_BYTES = 4 << 30

"""The certificate file: what was proven of whom, box by box, for anybody to check again.

A certificate is one ZIP archive. ``certificate.json`` is its `Header`: the model's fingerprint, how
it is fed, who may be asked about, and the totals. Beside it lie NumPy arrays (``NAME.npy``, format
1.0, little-endian, no pickles), a tree of boxes:

========================  =====================================================================
``root_low, root_high``   ``(R, a)`` whole numbers; the boxes of the first ``R`` nodes: places
                          along the header's axes, both ends included. Every point of the domain
                          is in exactly one of them.
``first``                 ``(n,)`` whole numbers; the first of a node's two children, the second
                          is the next one; -1 in a leaf. Children come after their parents.
``axis, cut``             ``(n,)`` whole numbers; the first child has the places up to ``cut``
                          along ``axis``, the second those beyond. Of an undecided leaf: how it
                          would be divided next, if ``axis`` is not -1.
``verdict``               ``(n,)`` whole numbers; -1 for nodes with children; of leaves: 0
                          undecided, 1 certified (the decision is unchanged), 2 falsified (it
                          changes), 3 counted, 4 without a comparison.
``consistent,``           ``(n,)`` numbers from 0 to 1; of an undecided leaf the shares of its
``discriminatory``        points that are proven so; of a counted one ``discriminatory`` times its
                          points, rounded to a whole number, are discriminatory, and all others
                          consistent; else without meaning.
``people_consistent,      ``(n,)`` numbers; the same as shares of the leaf's mass in the header's
people_...``              ``population``, a tree that was fitted to the data; also of counted ones.
========================  =====================================================================

Where rates of groups are proven, five more hold a second tree of boxes. A box of it has one
combination of protected values. Its roots follow from the header: for one combination after the
other the roots of the first tree, but for unclear ones, in which it may be.

========================  =====================================================================
``rate_first, rate_axis,  ``(m,)`` whole numbers; as above, ``rate_axis`` is -1 in every leaf.
rate_cut``
``rate_favourable,        ``(m,)`` numbers from 0 to 1; at least so large shares of a leaf's mass
rate_other``              in the population, given its combination, get the favourable decision,
                          and another one.
========================  =====================================================================

A point is a row whatever its protected values. It is *consistent* when all combinations of
protected values that may be in that box get the same decision of the model, *discriminatory* when
two do not. Where fewer than two may be there is no comparison, and nothing is counted. Along the
axis of an attribute that changes with a protected one (``domain.support.companions``) there is one
place for all codes that become the same codes with each protected value, the first of them. The
totals are sums over the leaves of whole numbers, each rounded down.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, PopulationOf, Space, companion_of
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import FairDeskError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Mapping as FedBy
from fairdesk.models.model import ModelCard, labels
from fairdesk.results.events import Certificate, Rows, Scores
from fairdesk.results.proofs import ProvenRates

#: Two figures of a bound, rounded up.
_UPWARDS = Context(prec=2, rounding=ROUND_CEILING)
Arrays = Mapping[str, NDArray[Any]]
#: The version of the format that this FairDesk writes, and the only one that it reads.
FORMAT = 2
#: What a certificate's name ends in.
SUFFIX = ".fairdesk-proof"
HEADER = "certificate.json"
#: The arrays: whole numbers or not, and how many dimensions.
ARRAYS = {
    "root_low": ("i", 2),
    "root_high": ("i", 2),
    "first": ("i", 1),
    "axis": ("i", 1),
    "cut": ("i", 1),
    "verdict": ("i", 1),
    "consistent": ("f", 1),
    "discriminatory": ("f", 1),
    "people_consistent": ("f", 1),
    "people_discriminatory": ("f", 1),
}
#: Those of the boxes of rates, all of them or none.
RATE_ARRAYS = {
    "rate_first": ("i", 1),
    "rate_axis": ("i", 1),
    "rate_cut": ("i", 1),
    "rate_favourable": ("f", 1),
    "rate_other": ("f", 1),
}
#: The verdicts of leaves.
UNDECIDED, CONSISTENT, DISCRIMINATORY, COUNTED, NOBODY = range(5)
#: A moment that every archive can name: equal certificates are equal files.
_TIME = (1980, 1, 1, 0, 0, 0)


class CertificateError(FairDeskError):
    """A certificate cannot be read, or is none."""


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model file that a certificate speaks of.

    Attributes
    ----------
    name, sha256 : str
        The file's name and fingerprint.
    format : str
        What kind of file it is, for people.
    output : str
        Which output decides, of a model with several.
    companions : tuple[tuple[str, str], ...]
        Name and fingerprint of the files beside it that it was opened with.
    """

    name: str
    sha256: str
    format: str = ""
    output: str = ""
    companions: tuple[tuple[str, str], ...] = ()


class AxisOf(msgspec.Struct, frozen=True):
    """The values of one attribute, numbered from 0 on.

    Attributes
    ----------
    attribute : str
        Its name.
    count : int
        How many values there are.
    codes : tuple[float, ...]
        The domain's codes of the values, in the order of their places; empty where there are too
        many, and they follow from the next three.
    low, spacing, grid : float
        The code at a place is ``low + place * spacing``, rounded to a multiple of ``1 / grid``.
    """

    attribute: str
    count: int
    codes: tuple[float, ...] = ()
    low: float = 0.0
    spacing: float = 1.0
    grid: float = 1.0

    def code(self, places: Places) -> NDArray[np.float64]:
        """Return the codes at places."""
        if self.codes:
            return np.array(self.codes)[places]
        codes = self.low + places * self.spacing
        return np.asarray(np.round(codes * self.grid) / self.grid)


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a certificate says in words and totals.

    Attributes
    ----------
    format : int
        `FORMAT`.
    model : ModelFile
        The model.
    mapping : Mapping
        How attributes become its inputs, and its answers decisions.
    domain : Domain
        Who may be asked about.
    axes : tuple[AxisOf, ...]
        One for each attribute that is not protected and follows no other.
    groups : tuple[int, ...]
        ``R``; of each root its row of ``may_be``.
    may_be : tuple[tuple[bool, ...], ...]
        Which combinations of protected values may be, each row for every combination of the
        domain (`Domain.combinations`).
    unclear : tuple[int, ...]
        Roots in which the constraints hold for some and not for others: nothing but what was
        counted is told of them.
    total, certified, falsified, undecided : str
        How many points there are, are consistent, discriminatory, and undecided: whole numbers in
        decimal digits.
    certified_share, falsified_share, undecided_share : float
        The same as shares of the total: the first two rounded down, the third up.
    margin : float
        By how much, at most, rounding was found to move the model's answer.
    about_margin : str
        What that means.
    method : str
        The key of the method that made it.
    options : dict[str, int | float]
        Its parameters.
    seconds : float
        What it took.
    boxes : int
        How many boxes were looked at.
    notes : tuple[str, ...]
        What else must be known, a sentence each.
    versions : dict[str, str]
        Of the programs that made it.
    population : PopulationOf, optional
        How likely points are, by a tree that was fitted to the data; ``None`` without data.
    population_sha256 : str
        Its fingerprint.
    people_certified_share, people_falsified_share, people_undecided_share : float
        Which shares of the population are consistent, discriminatory and undecided: the first two
        rounded down.
    rates : tuple[ProvenRates, ...]
        Between which shares groups of the population get the favourable decision.
    """

    format: int
    model: ModelFile
    mapping: FedBy
    domain: Domain
    axes: tuple[AxisOf, ...]
    groups: tuple[int, ...]
    may_be: tuple[tuple[bool, ...], ...]
    unclear: tuple[int, ...]
    total: str
    certified: str
    falsified: str
    undecided: str
    certified_share: float
    falsified_share: float
    undecided_share: float
    margin: float
    about_margin: str
    method: str
    options: dict[str, int | float | str]
    seconds: float
    boxes: int
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    population: PopulationOf | None = None
    population_sha256: str = ""
    people_certified_share: float = 0.0
    people_falsified_share: float = 0.0
    people_undecided_share: float = 1.0
    rates: tuple[ProvenRates, ...] = ()


def pack(
    space: Space,
    tree: Arrays,
    fed: FedModel,
    *,
    phase: str,
    method: str,
    options: msgspec.Struct,
    consistent: int,
    discriminatory: int,
    margin: float,
    seconds: float,
    boxes: int,
    notes: Sequence[str] = (),
    of_people: tuple[float, float, float] = (0.0, 0.0, 1.0),
    rates: tuple[ProvenRates, ...] = (),
) -> Certificate:
    """Make a certificate of what was proven.

    Parameters
    ----------
    space : Space
        That the tree divides.
    tree : mapping
        The arrays of its nodes, and of the boxes of rates if there are any; those of its roots are
        taken from the space.
    fed : FedModel
        The model.
    phase, method, options
        Of the run; ``method`` is the key.
    consistent, discriminatory : int
        Points that are proven so.
    margin, boxes, notes
        As in `fairdesk.results.proofs.Proven`.
    seconds : float
        What it took.
    of_people : tuple[float, float, float]
        Which shares of the space's population are certified, falsified and undecided.
    rates : tuple[ProvenRates, ...]
        Of its groups.
    """
    total = space.total
    population = None if space.people is None else space.people.of
    header = Header(
        format=FORMAT,
        model=_model_file(fed.opened.card),
        mapping=fed.mapping,
        domain=space.domain,
        axes=tuple(
            AxisOf(
                space.domain.names[axis.position],
                axis.count,
                tuple(axis.codes.tolist()),
                axis.low,
                axis.spacing,
                axis.grid,
            )
            for axis in space.axes
        ),
        groups=tuple(space.groups.tolist()),
        may_be=tuple(tuple(row) for row in space.may_be.tolist()),
        unclear=tuple(np.flatnonzero(space.unclear).tolist()),
        total=str(total),
        certified=str(consistent),
        falsified=str(discriminatory),
        undecided=str(total - consistent - discriminatory),
        certified_share=share_down(consistent, total),
        falsified_share=share_down(discriminatory, total),
        undecided_share=share_up(total - consistent - discriminatory, total),
        margin=margin,
        about_margin=margin_sentence(margin),
        method=method,
        options=msgspec.structs.asdict(options),
        seconds=seconds,
        boxes=boxes,
        notes=tuple(notes),
        population=population,
        population_sha256="" if population is None else population.fingerprint,
        people_certified_share=of_people[0],
        people_falsified_share=of_people[1],
        people_undecided_share=of_people[2],
        rates=rates,
    )
    arrays = {name: tree[name] for name in (*ARRAYS, *RATE_ARRAYS) if name in tree}
    arrays["root_low"], arrays["root_high"] = space.low, space.high
    return Certificate(phase, encoded(header), arrays)


def about(
    header: Header, card: ModelCard, mapping: FedBy, domain: Domain, versions: dict[str, str]
) -> Header:
    """Return a header with the auditor's own model, mapping, domain and versions."""
    return msgspec.structs.replace(
        header, model=_model_file(card), mapping=mapping, domain=domain, versions=versions
    )


def _model_file(card: ModelCard) -> ModelFile:
    return ModelFile(
        Path(card.path).name,
        card.sha256,
        card.format,
        card.output,
        tuple((Path(each.path).name, each.sha256) for each in card.companions),
    )


def share_down(part: int, whole: int) -> float:
    """Divide and round down to a float: never above the share, and 1 for all only."""
    share = part / whole if whole else 0.0
    numerator, denominator = share.as_integer_ratio()
    above = numerator * whole > part * denominator
    return float(np.nextafter(share, 0.0)) if above else share


def share_up(part: int, whole: int) -> float:
    """Divide and round up to a float: never below the share, and 0 for nobody only."""
    down = share_down(part, whole)
    numerator, denominator = down.as_integer_ratio()
    return float(np.nextafter(down, 1.0)) if numerator * whole < part * denominator else down


def margin_sentence(margin: float) -> str:
    """Return a sentence on the margin for rounding in the model's own arithmetic."""
    if not margin:
        return (
            "No decision relies on a bound that rounding could change: each was obtained by "
            "querying the model itself, or nothing in the model is rounded."
        )
    return (
        "The proof is valid for the numbers as the model itself adds and rounds them, in any "
        "order: rounding changes its output, before it is converted to a probability, by at most "
        f"{_at_most(margin)}, and every bound allows for that. An output closer than this to the "
        "decision threshold counts as undecided, unless the model itself was queried."
    )


def rounding_sentence(margin: float) -> str:
    """Return the same shortly; empty where there is no such margin."""
    said = f"The proof allows for rounding of the model’s output by at most {_at_most(margin)}."
    return said * bool(margin)


def _at_most(margin: float) -> str:
    """Write a margin, rounded up."""
    return format(_UPWARDS.create_decimal_from_float(margin), "f")


def encoded(header: Header) -> bytes:
    """Write a header as JSON."""
    return msgspec.json.encode(header, order="deterministic")


def decoded(header: bytes) -> Header:
    """Read a header.

    Raises
    ------
    CertificateError
        When it is none, or of another version.
    """
    try:
        version = msgspec.json.decode(header, type=_Format).format
        if version == FORMAT:
            return msgspec.json.decode(header, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(f"its header is invalid: {error}") from error
    except FairDeskError as error:
        raise malformed(f"its domain is impossible: {error.what}") from error
    raise CertificateError(
        "The proof certificate has a format that this FairDesk version does not support.",
        why=f"It has version {version}; this FairDesk reads version {FORMAT}.",
        remedy=(
            "Install the newest FairDesk to verify it."
            if version > FORMAT
            else "Verify it with the FairDesk version that wrote it, or certify the model again."
        ),
    )


class _Format(msgspec.Struct):
    format: int


def write(target: Path | BinaryIO, header: bytes, arrays: Arrays) -> None:
    """Write a certificate; equal ones make equal files.

    Parameters
    ----------
    target : Path or BinaryIO
        What is written to.
    header : bytes
        A `Header` as JSON.
    arrays : mapping
        All of `ARRAYS`, and of `RATE_ARRAYS` if it has them.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, _TIME), header, zipfile.ZIP_DEFLATED)
        for name in (*ARRAYS, *(each for each in RATE_ARRAYS if each in arrays)):
            info = zipfile.ZipInfo(f"{name}.npy", _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as stream:
                array = np.ascontiguousarray(_compact(arrays[name]))
                np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def _compact(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the smallest type that holds it, little-endian."""
    if array.dtype.kind == "f":
        return array.astype("<f8", copy=False)
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    for kind in ("<i1", "<i2", "<i4"):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return array.astype(kind)
    return array.astype("<i8")


def malformed(why: str) -> CertificateError:
    """Return the error for a file that is no certificate, or a damaged or forged one."""
    return CertificateError(
        "The file is not a FairDesk proof certificate, or it is damaged.",
        why=f"Detail: {why[:300]}.",
        remedy="Request the file again, or make a new proof certificate.",
    )


#: Nodes that are walked through at once.
_AT_ONCE = 1 << 14


class Leaves(NamedTuple):
    """Some leaves: their numbers, their roots, ``(m,)``, and their boxes, ``(m, a)``."""

    nodes: NDArray[np.int64]
    root: NDArray[np.int64]
    low: Places
    high: Places


def leaves(arrays: Arrays) -> Iterator[Leaves]:
    """Walk through the leaves, each with its box, in memory that does not grow with their number.

    Parameters
    ----------
    arrays : mapping
        As `check` leaves them.

    Raises
    ------
    CertificateError
        When a box is divided outside of itself.
    """
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    roots = np.arange(len(low))
    waiting = _parts(Leaves(roots, roots, low, high))
    first, axis, cut = arrays["first"], arrays["axis"], arrays["cut"]
    while waiting:
        part = _next(waiting)
        children = first[part.nodes].astype(np.int64)
        inner = children >= 0
        if not inner.all():
            yield Leaves(*(each[~inner] for each in part))
        if not inner.any():
            continue
        part = Leaves(*(each[inner] for each in part))
        children, along = children[inner], axis[part.nodes].astype(np.int64)
        at = cut[part.nodes].astype(np.int64)
        each = np.arange(len(children))
        if not ((at >= part.low[each, along]) & (at < part.high[each, along])).all():
            raise malformed("some of its regions are divided outside their bounds")
        upper, lower = part.high.copy(), part.low.copy()
        upper[each, along], lower[each, along] = at, at + 1
        waiting += _parts(Leaves(children + 1, part.root, lower, part.high))
        waiting += _parts(Leaves(children, part.root, part.low, upper))


def _parts(whole: Leaves) -> list[Leaves]:
    """Cut boxes into parts that are walked through at once."""
    return [
        Leaves(*(each[start : start + _AT_ONCE] for each in whole))
        for start in range(0, len(whole.nodes), _AT_ONCE)
    ]


def _next(waiting: list[Leaves]) -> Leaves:
    """Take the last parts, as many small ones together as are walked through at once."""
    taken = [waiting.pop()]
    size = len(taken[0].nodes)
    while waiting and size + len(waiting[-1].nodes) <= _AT_ONCE:
        taken.append(waiting.pop())
        size += len(taken[-1].nodes)
    return Leaves(*(np.concatenate(each) for each in zip(*taken, strict=True)))


Predict = Callable[[Rows], Scores]
#: Rows sent to the model at once.
_POINTS_AT_ONCE = 50_000


class Points:
    """The points of a certificate, and its model.

    Parameters
    ----------
    header : Header
        Of the certificate.
    predict : callable
        Asks the model about ``(n, d)`` rows of the header's domain.
    """

    def __init__(self, header: Header, predict: Predict) -> None:
        self._header, self._domain, self._predict = header, header.domain, predict

    def rows(self, places: Places) -> Rows:
        """Return rows from which the domain makes the members of points: ``(n, d)``."""
        domain = self._domain
        rows = np.repeat(domain.low[None], len(places), axis=0)
        for i, axis in enumerate(self._header.axes):
            rows[:, domain.names.index(axis.attribute)] = axis.code(places[:, i])
        rows[:, domain.protected] = domain.combinations[0]
        moved = domain.apply_dependencies(rows.copy())
        for i, axis in enumerate(self._header.axes):
            if companion_of(domain, axis.attribute):
                # which code a member has depends on its combination
                moved[:, domain.names.index(axis.attribute)] = axis.code(places[:, i])
        return moved

    def differ(self, places: Places) -> NDArray[np.bool_]:
        """Ask the model of each point whether two members who may be are decided differently."""
        domain, members = self._domain, len(self._domain.combinations)
        at_once = max(1, _POINTS_AT_ONCE // members)
        parts = [np.empty(0, dtype=np.bool_)]
        for start in range(0, len(places), at_once):
            similar = domain.similar(self.rows(places[start : start + at_once]))
            everyone = similar.reshape(-1, similar.shape[2])
            allowed = domain.possible(similar).ravel()
            predicted_class = np.full(len(everyone), -1, dtype=np.int64)
            if allowed.any():
                predicted_class[allowed] = labels(self._predict(everyone[allowed]))
            sides_of_combinations = predicted_class.reshape(-1, members)
            allowed = allowed.reshape(sides_of_combinations.shape)
            most = sides_of_combinations.max(axis=1)
            least = np.where(allowed, sides_of_combinations, most[:, None]).min(axis=1)
            parts.append(most != least)
        return np.concatenate(parts)

    def is_favourable(self, places: Places, combination: int) -> NDArray[np.bool_]:
        """Ask the model which points it gives the favourable decision, with protected values.

        Parameters
        ----------
        places : Places
            ``(n, a)``.
        combination : int
            The place of the protected values among `Domain.combinations`.
        """
        rows = self._domain.counterparts(self.rows(places), np.full(len(places), combination))
        decided = labels(self._predict(rows)) == self._header.mapping.favourable_class
        return np.asarray(decided)

    def person(self, places: Places) -> str:
        """Write a point, ``(a,)``: its values, but for the protected ones."""
        domain, row = self._domain, self.rows(places[None])[0]
        others = [domain.names.index(axis.attribute) for axis in self._header.axes]
        values = [f"{domain.names[i]} = {domain.attributes[i].text(row[i])}" for i in others]
        return "an instance with " + ", ".join(values)

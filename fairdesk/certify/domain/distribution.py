"""A population written down: a tree of attributes, and how cells are shared out among places."""

from __future__ import annotations

import hashlib

import msgspec


class Node(msgspec.Struct, frozen=True):
    """An attribute in a population's tree.

    Attributes
    ----------
    attribute : str
        Its name.
    parent : int
        The place of the attribute that it depends on, before this one; -1 for none.
    table : tuple[tuple[float, ...], ...]
        For each cell of the parent, or once, the probabilities of its own cells.
    """

    attribute: str
    parent: int
    table: tuple[tuple[float, ...], ...]


class Weights(msgspec.Struct, frozen=True):
    """How a cell's probability is shared out among the places of an axis: by whole numbers.

    Attributes
    ----------
    starts, cells : tuple[int, ...]
        Neighbouring places of one cell: the first place of each run, and its cell.
    each : int
        What every place weighs; 0 where only those that the data have count.
    places, more : tuple[int, ...]
        Places that weigh more, ascending, and by how much.
    """

    starts: tuple[int, ...]
    cells: tuple[int, ...]
    each: int
    places: tuple[int, ...]
    more: tuple[int, ...]


class Compared(msgspec.Struct, frozen=True):
    """The values of a protected attribute that are compared, in the population.

    Attributes
    ----------
    attribute : str
        Its name.
    cells : tuple[int, ...]
        The cell of each value.
    shares : tuple[float, ...]
        Which share of its cell's probability each value has.
    """

    attribute: str
    cells: tuple[int, ...]
    shares: tuple[float, ...]


class PopulationOf(msgspec.Struct, frozen=True):
    """A population, written down: enough to compute the mass of any box of a space.

    The probability of a point and a cell of each other attribute is the product of the nodes'
    probabilities, and for each axis of the place's weight over that of all places in its cell.

    Attributes
    ----------
    nodes : tuple[Node, ...]
        All attributes of the domain, each behind its parent.
    axes : tuple[Weights, ...]
        One for each axis of the space.
    compared : tuple[Compared, ...]
        One for each protected attribute of the space's domain.
    """

    nodes: tuple[Node, ...]
    axes: tuple[Weights, ...]
    compared: tuple[Compared, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash of it as JSON."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()

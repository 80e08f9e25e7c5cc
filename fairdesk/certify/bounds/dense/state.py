"""What the loops that bound a network over boxes read, and what they work in."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.tree_kernels import TreeRoom
from fairdesk.certify.domain.population_kernels import TreeArrays
from fairdesk.compiled import Float2, Float3, Int2

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Sums may be added up in any order: that is allowed for. Infinities and NaN stay what they are.
FAST: Final = {"reassoc", "contract"}
#: The rounding of a few operations, with room.
FEW = 2.0**-46

#: What is said of a box.
UNDECIDED, CONSISTENT, DISCRIMINATORY = 0, 1, 2


class Network(NamedTuple):
    """An encoded network as these loops read it; ``h`` units in the first layer.

    Attributes
    ----------
    shape : NDArray[np.int64]
        ``(L, 4)``; of each layer before the margins its units, the place of its activation, its
        first unit among all, and where its weights begin in ``weights`` and ``turned``.
    settings : NDArray[np.float64]
        ``(L, 4)``; alpha, ceiling, and the factor and the constant of the rounding of its sums.
    weights, turned : NDArray[np.float64]
        Flat; of each layer but the first ``(inputs, units)``, and the same turned.
    bias : NDArray[np.float64]
        Of all units.
    first_off : NDArray[np.float64]
        ``(h,)``; how far the first layer's sums can be from what the tables say.
    slopes : NDArray[np.float64]
        ``(a, h)``; 0 along axes with a table.
    entries : NDArray[np.float64]
        Flat, ``(h, E)``; of each unit the numbers of a form: its slopes, the entries of the tables,
        what the combinations add.
    tables : int
        How many entries the tables in a form have.
    least, most : NDArray[np.float64]
        ``(n, h)``; of the axes with tables trees of the least and the greatest entry: node ``k``
        holds those of nodes ``2 k`` and ``2 k + 1``, and the entries themselves are the leaves.
    axes : NDArray[np.int64]
        ``(a, 3)``; places; where its tree begins, -1 for a slope; where its entries are in a form,
        -1 for a slope, and where a table is bounded by its extremes only.
    combined : NDArray[np.float64]
        ``(V, h)``; what each combination of protected values adds.
    rows, sizes : NDArray[np.float64]
        ``(F, n)``; each margin by the outputs of the last layer before it, and what its rounding
        is in proportion to.
    ends : NDArray[np.float64]
        ``(F, 2)``; the same of what is constant.
    limits : NDArray[np.float64]
        ``(13,)``; factor and constant of the rounding of margins; how near to 0 nothing is
        certain; how large a number may be; how often a box that was narrowed is bounded at most;
        how many combinations are bounded together, and how far these may be apart, as a share of
        what the box makes of the first layer's sums; what share of an axis has to be left, at most,
        so that it is cut; how much a form's own slopes matter to where a box is halved; how small a
        share of the population is not counted; how large a share of a box has to be gained, at
        least, so that a unit's range is truncated; whether people are counted on truncated ranges,
        instead of points; steps of the grid on which people are counted, for which the room was
        made.
    needs : NDArray[np.int64]
        ``(K, 2 F)``; whether class ``c`` wins only where that form is above 0.
    decision : NDArray[np.int64]
        ``(K,)``; what a class means.
    favourable : int
        Which decision is.
    people, given
        The population, as of `fairdesk.certify.bounds.tree_kernels.tree_shares`; ``given`` is empty
        where there is none.
    """

    shape: Int2
    settings: Float2
    weights: Float64
    turned: Float64
    bias: Float64
    first_off: Float64
    slopes: Float2
    entries: Float64
    tables: int
    least: Float2
    most: Float2
    axes: Int2
    combined: Float2
    rows: Float2
    sizes: Float2
    ends: Float2
    limits: Float64
    needs: Int2
    decision: Numbers
    people: TreeArrays
    given: Float64
    favourable: int


class Room(NamedTuple):
    """What the loops work in, made once for each thread; ``R`` rows at once.

    Attributes
    ----------
    units : NDArray[np.float64]
        ``(11, units)``; of each unit by rows: the interval of its sum, of its answer, slope and
        constant of the line below and of the line above, what its sum may be off, how much
        the margins hang on it, and how many of its lines do not meet.
    live, lives : NDArray[np.int64]
        ``(units,)``, ``(L,)``; of each layer the units whose answers change, and how many.
    side, which : NDArray[np.int64]
        ``(units,)``, ``(R,)``; which bounds of units are looked for.
    sums : NDArray[np.float64]
        ``(3, widest)``.
    first, wide, ends : NDArray[np.float64]
        ``(2, h)``; the least and the most of the first layer's sums, of the part of axes that are
        bounded by extremes, and of one axis. ``wide`` is ``(2, 0)`` where there are none.
    middle, half : NDArray[np.float64]
        ``(a,)``; of the box, along axes with slopes.
    slopes, carried : NDArray[np.float64]
        ``(R, widest)``; rows of coefficients on their way back.
    forms, constant : NDArray[np.float64]
        ``(R, E)``, ``(R,)``; what they become.
    kept : NDArray[np.float64]
        ``(V, 2 F, E)``; the forms of the margins.
    constants, bounds : NDArray[np.float64]
        ``(V, 2 F)``; what is added to a form, and what it is at least in the box.
    off : NDArray[np.float64]
        ``(F,)``; how far the margins are off.
    common : NDArray[np.float64]
        ``(E,)``.
    won, bundle, formed, until : NDArray[np.int64]
        ``(V,)``; the decision under each combination, -1 where it is not certain; with which
        others it was bounded; of each of these sets whether there are forms, and where it
        ends among all who are compared.
    cuts : NDArray[np.float64]
        ``(4, units)``; what `fairdesk.certify.bounds.dense.truncation` knows of units: what an
        average distance of 1 to the line above costs; how often what is excluded is taken off; the
        mean of the sum; the share that is excluded.
    pulls : NDArray[np.float64]
        ``(2 F, units)``; what each form of the margins takes of each unit's answer.
    sides, sides_at : NDArray[np.float64]
        ``(2, widest, E)``, ``(2, widest)``; forms and constants below a layer's sums, and below
        them with the other sign.
    sided : NDArray[np.int64]
        ``(2, widest)``; which of them there are.
    counted : NDArray[np.float64]
        ``(5,)``; what was counted before ranges were truncated.
    work, order
        As `fairdesk.certify.bounds.count_kernels.room` gives them.
    start : NDArray[np.int64]
        ``(a,)``.
    people : TreeRoom
        To count people in.
    """

    units: Float2
    live: Numbers
    lives: Numbers
    side: Numbers
    which: Numbers
    sums: Float2
    first: Float2
    wide: Float2
    ends: Float2
    middle: Float64
    half: Float64
    slopes: Float2
    carried: Float2
    forms: Float2
    constant: Float64
    kept: Float3
    constants: Float2
    bounds: Float2
    off: Float64
    common: Float64
    won: Numbers
    bundle: Numbers
    formed: Numbers
    until: Numbers
    cuts: Float2
    pulls: Float2
    sides: Float3
    sides_at: Float2
    sided: Int2
    counted: Float64
    work: Float2
    order: Numbers
    start: Numbers
    people: TreeRoom


# what the rows of `Room.units` are, the columns of `Network.shape`, what is in `Network.limits`,
# and the rows of `Room.cuts`
(
    LOW, HIGH, ANSWER_LOW, ANSWER_HIGH,
    BELOW, BELOW_AT, ABOVE, ABOVE_AT, EPS, HANGS, OPEN,
) = range(11)  # fmt: skip
UNITS, KIND, FIRST, WEIGHTS = range(4)
(
    CLOSE, LARGEST, ROUNDS, TOGETHER, NEAR,
    WORTH, STEEP, PEOPLED, LEAST_GAIN, BY_PEOPLE, STEPS,
) = range(2, 13)  # fmt: skip
PRICE, TAKEN, MEAN, EXCLUDED = range(4)

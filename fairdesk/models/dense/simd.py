"""What numba's loops cannot be brought to: several rows at once in the processor's registers.

Written in the compiler's own terms, for `fairdesk.models.dense.forward` and
`fairdesk.certify.counting.exhaustive_kernels` (whose compiled loops hold it: a change here needs
one there, or an emptied cache). A run is `LANES` neighbouring numbers, one for each of so many
rows; whatever is done is done to all of them by the same instructions.

Why not plain loops over the rows of a block, which numba's compiler turns into such instructions by
itself? They were tried, with four inputs added at once: the same answers to the last bit, and no
search would notice, for it spends next to nothing here. But a proof asks about many millions of
points, and one that counts most of them took over twice the processor's time. ONNX Runtime
does not promise that a row's answer is the same wherever in a batch it stands.
"""
# numba's decorators have no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

#: Rows of a run.
LANES = 16
#: From one number of these rows to their next: a block of so many rows lies side by side.
ROWS = 32
#: Units that are summed up together: their sums of a run fill a processor's registers.
MOST_UNITS = 6

_INDEX, _PLACE = ir.IntType(64), ir.IntType(32)
_RUN = ir.VectorType(ir.FloatType(), LANES)
_WIDE_RUN = ir.VectorType(ir.DoubleType(), LANES)
#: A product may go into its sum unrounded, where the processor does that in one instruction.
_FUSED = ("contract",)

Write = Callable[[BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]


class _Writer:
    """Writes instructions into a function that numba compiles."""

    def __init__(
        self,
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        values: Sequence[ir.Value],
    ) -> None:
        self.builder = builder
        self._context = context
        self._arguments = list(zip(signature.args, values, strict=True))

    def pointer(self, array: int) -> ir.Value:
        """Point into the array that is the argument ``array``, to the place in the next one."""
        (kind, value), (_, place) = self._arguments[array : array + 2]
        made = self._context.make_array(kind)(self._context, self.builder, value)
        return self.beyond(made.data, place)

    def beyond(self, pointer: ir.Value, by: ir.Value) -> ir.Value:
        return self.builder.gep(pointer, [by])

    def load(self, pointer: ir.Value) -> ir.Value:
        return self.builder.load(self.builder.bitcast(pointer, _RUN.as_pointer()), align=4)

    def store(self, run: ir.Value, pointer: ir.Value) -> None:
        self.builder.store(run, self.builder.bitcast(pointer, _RUN.as_pointer()), align=4)

    def spread(self, number: ir.Value, kind: ir.VectorType) -> ir.Value:
        """Make a run of one number."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(empty, number, _PLACE(0))
        everywhere = ir.Constant(ir.VectorType(_PLACE, LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, empty, everywhere)

    def runs(self, pointer: ir.Value, count: int) -> list[ir.Value]:
        """Load so many neighbouring numbers and make a run of each."""
        places = [self.beyond(pointer, _INDEX(i)) for i in range(count)]
        return [self.spread(self.builder.load(place, align=4), _RUN) for place in places]


def _summing(units: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """Make what sums up so many units for a run: of all inputs, and of listed ones."""

    def write(
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        values: Sequence[ir.Value],
    ) -> ir.Value:
        writer = _Writer(context, builder, signature, values)
        source, weights, target = (writer.pointer(i) for i in (0, 2, 4))
        inputs, floor = values[6], writer.spread(values[7], _RUN)
        listed = writer.pointer(8) if len(values) > 8 else None
        biases = writer.runs(weights, units)
        before = builder.block
        inside, after = (builder.append_basic_block(name) for name in ("sum", "summed"))
        builder.branch(inside)
        builder.position_at_end(inside)
        i, totals = builder.phi(_INDEX), [builder.phi(_RUN) for _ in range(units)]
        following = builder.add(i, _INDEX(1))
        which = i if listed is None else builder.load(writer.beyond(listed, i))
        row = following if listed is None else builder.add(which, _INDEX(1))
        given = writer.load(writer.beyond(source, builder.mul(which, _INDEX(ROWS))))
        place = writer.beyond(weights, builder.mul(row, _INDEX(units)))
        sums = [
            builder.fadd(total, builder.fmul(given, factor, flags=_FUSED), flags=_FUSED)
            for total, factor in zip(totals, writer.runs(place, units), strict=True)
        ]
        i.add_incoming(_INDEX(0), before)
        i.add_incoming(following, inside)
        for total, first, then in zip(totals, biases, sums, strict=True):
            total.add_incoming(first, before)
            total.add_incoming(then, inside)
        builder.cbranch(builder.icmp_signed("<", following, inputs), inside, after)
        builder.position_at_end(after)
        for u, total in enumerate(sums):
            low = builder.fcmp_ordered("<", total, floor)
            kept = builder.select(low, floor, total)
            writer.store(kept, writer.beyond(target, _INDEX(u * ROWS)))
        return context.get_dummy_value()

    @intrinsic
    def sums(
        _: object,
        source: types.Type,
        source_at: types.Type,
        weights: types.Type,
        weights_at: types.Type,
        target: types.Type,
        target_at: types.Type,
        inputs: types.Type,
        least: types.Type,
    ) -> tuple[Signature, Write]:
        """``target[u] = max(least, bias[u] + sum(source[i] * weights[i, u]))``, NaN kept."""
        told = (source, source_at, weights, weights_at, target, target_at, inputs, least)
        return types.void(*told), write

    @intrinsic
    def listed_sums(
        _: object,
        source: types.Type,
        source_at: types.Type,
        weights: types.Type,
        weights_at: types.Type,
        target: types.Type,
        target_at: types.Type,
        inputs: types.Type,
        least: types.Type,
        listed: types.Type,
        listed_at: types.Type,
    ) -> tuple[Signature, Write]:
        """As `sums`, over the ``inputs`` of them that are listed, in their order."""
        told = (source, source_at, weights, weights_at, target, target_at, inputs, least)
        return types.void(*told, listed, listed_at), write

    return sums, listed_sums


(
    (sum_1, listed_sum_1),
    (sum_2, listed_sum_2),
    (sum_3, listed_sum_3),
    (sum_4, listed_sum_4),
    (sum_5, listed_sum_5),
    (sum_6, listed_sum_6),
) = map(_summing, range(1, MOST_UNITS + 1))


@intrinsic
def any_set(_: object, source: types.Type, source_at: types.Type) -> tuple[Signature, Write]:
    """Return whether a run has a number other than nought."""

    def write(
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        values: Sequence[ir.Value],
    ) -> ir.Value:
        run = _Writer(context, builder, signature, values)
        given = run.load(run.pointer(0))
        bits = builder.fcmp_unordered("!=", given, ir.Constant(_RUN, [0.0] * LANES))
        packed = builder.bitcast(bits, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", packed, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(source, source_at), write


@intrinsic
def turn(
    _: object,
    matrix: types.Type,
    matrix_at: types.Type,
    width: types.Type,
    centre: types.Type,
    target: types.Type,
    target_at: types.Type,
) -> tuple[Signature, Write]:
    """Make a run of one column of a matrix: ``target = float32(matrix[:LANES] - centre)``."""

    def write(
        context: BaseContext,
        builder: ir.IRBuilder,
        signature: Signature,
        values: Sequence[ir.Value],
    ) -> ir.Value:
        writer = _Writer(context, builder, signature, values)
        start, target, width = writer.pointer(0), writer.pointer(4), values[2]
        run = ir.Constant(_WIDE_RUN, ir.Undefined)
        for lane in range(LANES):
            number = builder.load(writer.beyond(start, builder.mul(width, _INDEX(lane))))
            run = builder.insert_element(run, number, _PLACE(lane))
        away = builder.fsub(run, writer.spread(values[3], _WIDE_RUN))
        writer.store(builder.fptrunc(away, _RUN), target)
        return context.get_dummy_value()

    return types.void(matrix, matrix_at, width, centre, target, target_at), write


@intrinsic
def as_float(_: object, bits: types.Type) -> tuple[Signature, Write]:
    """Read the bits of a whole number as those of a float."""

    def write(
        _: BaseContext, builder: ir.IRBuilder, __: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.bitcast(values[0], ir.FloatType())

    return types.float32(bits), write

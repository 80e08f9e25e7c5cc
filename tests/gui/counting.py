"""Tables of groups for the window's tests, counted from plain numbers."""

from fairdesk.groups.statistics import wilson_ends
from fairdesk.results.groups import GroupLine, GroupTable

#: 133 of 197 and so on are the published approvals of the Boston mortgages, by race.
BOSTON = {("Black",): (197, 133), ("Hispanic",): (111, 84), ("White",): (1681, 1527)}


def line(values, people, favourable, whole, best, codes=(), known=True, **more):
    rate = favourable / people if people else None
    low, high = wilson_ends(favourable, people) if people else (0.0, 1.0)
    excluded = people < 0.02 * whole
    compared = known and not excluded and rate is not None and best
    ratio = rate / best if compared else None
    return GroupLine(
        values=values,
        codes=codes,
        known=known,
        n_samples=people,
        share=people / whole,
        favourable=favourable,
        rate=rate,
        low=low,
        high=high,
        excluded=excluded,
        impact_ratio=ratio,
        below=None if ratio is None else ratio < 0.8,
        **more,
    )


def table(counts=None, attributes=("race",), unknown=(), of="label", outcome="yes", **more):
    """Count a table of ``{values: (people, favourable)}``; ``unknown`` are values not known."""
    counts = BOSTON if counts is None else counts
    known = {values: (n, s) for values, (n, s) in counts.items() if not set(values) & set(unknown)}
    whole = sum(n for n, _s in known.values())
    rates = {values: s / n for values, (n, s) in known.items() if n >= 0.02 * whole and n}
    best = max(rates, key=rates.get, default=None)
    axes = [
        list(dict.fromkeys(values[axis] for values in counts)) for axis in range(len(attributes))
    ]
    lines = tuple(
        line(
            values,
            n,
            s,
            whole,
            rates.get(best),
            tuple(float(axes[axis].index(value)) for axis, value in enumerate(values)),
            known=values in known,
            **more,
        )
        for values, (n, s) in counts.items()
    )
    return GroupTable(
        of=of,
        outcome=outcome,
        attributes=attributes,
        n_samples=whole,
        unknown=sum(n for values, (n, _s) in counts.items() if values not in known),
        without=0,
        favourable=sum(s for _n, s in known.values()),
        reference=-1 if best is None else list(counts).index(best),
        lines=lines,
    )

"""What the leaves of a certificate say, added up in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    Arrays,
    Header,
)
from fairdesk.certify.proof.leaves import leaves
from fairdesk.certify.proof.verify.outcome import KINDS, MOST_MESSAGES, Check
from fairdesk.certify.proof.verify.roots import volumes_of
from fairdesk.certify.proof.verify.tree import Nodes

#: Of more points in a box only that there are so many matters.
_LARGEST = 10**300


class LeafContents:
    """What the leaves of a certificate say, once `walk` was there.

    Attributes
    ----------
    nodes, sizes : dict[int, NDArray]
        By kind of leaf: their numbers, and how many points each has, about.
    """

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self.nodes: dict[int, Nodes] = {}
        self.sizes: dict[int, NDArray[np.float64]] = {}
        self._header, self._arrays = header, arrays
        self._total = 0
        self._proven = {"consistent": [0, 0], "discriminatory": [0, 0]}

    def walk(self) -> Check:
        """Walk through all leaves, and add up what they say."""
        header, arrays = self._header, self._arrays
        several = np.array([sum(row) > 1 for row in header.may_be], dtype=np.bool_)
        inhabited = several[list(header.groups)]
        unclear = np.zeros(len(header.groups), dtype=np.bool_)
        unclear[list(header.unclear)] = True
        inhabited |= unclear
        roots = arrays["root_low"].astype(np.int64), arrays["root_high"].astype(np.int64)
        left = sum(volumes_of(*roots))
        nodes: dict[int, list[Nodes]] = {kind: [] for kind in KINDS}
        sizes: dict[int, list[NDArray[np.float64]]] = {kind: [] for kind in KINDS}
        messages: list[str] = []
        failed = count = 0
        for part in leaves(arrays):
            verdict = arrays["verdict"][part.nodes]
            volumes = volumes_of(part.low, part.high)
            left -= sum(volumes)
            count += len(volumes)
            nobody = verdict == NOBODY
            wrong = np.flatnonzero(nobody == inhabited[part.root])
            wrong = np.union1d(
                wrong,
                np.flatnonzero(
                    unclear[part.root] & ((verdict == CONSISTENT) | (verdict == DISCRIMINATORY))
                ),
            )
            failed += len(wrong)
            messages += [
                f"Region {part.nodes[i]} has the verdict “{KINDS[int(verdict[i])]}”, which "
                "is impossible there."
                for i in wrong[: MOST_MESSAGES - len(messages)].tolist()
            ]
            self._add(part.nodes, verdict, volumes)
            # what a float cannot hold is drawn as if it could just be held
            floats = np.array([float(min(size, _LARGEST)) for size in volumes])
            for kind in KINDS:
                own = verdict == kind
                nodes[kind].append(part.nodes[own])
                sizes[kind].append(floats[own])
        if left:
            failed += 1
            messages.append(
                f"The numbers of combinations in the regions and in the domain differ by {left:,}."
            )
        self.nodes = {kind: np.concatenate(each) for kind, each in nodes.items()}
        self.sizes = {kind: np.concatenate(each) for kind, each in sizes.items()}
        return Check(
            "The regions cover the whole domain exactly once", count, failed, 0, tuple(messages)
        )

    def _add(self, nodes: Nodes, verdict: NDArray[Any], volumes: list[int]) -> None:
        """Add up what leaves prove: the most that they can be read to say, and the least."""
        consistent, discriminatory = (
            self._arrays[name][nodes].tolist() for name in ("consistent", "discriminatory")
        )
        for i, (kind, size) in enumerate(zip(verdict.tolist(), volumes, strict=True)):
            if kind == NOBODY:
                continue
            self._total += size
            if kind == COUNTED:
                hits = round(size * discriminatory[i])
                both = {"discriminatory": (hits, hits), "consistent": (size - hits, size - hits)}
            elif kind == UNDECIDED:
                both = {
                    "consistent": _between(size, consistent[i]),
                    "discriminatory": _between(size, discriminatory[i]),
                }
            else:
                both = {"consistent" if kind == CONSISTENT else "discriminatory": (size, size)}
            for name, (least, most) in both.items():
                self._proven[name][0] += least
                self._proven[name][1] += most

    def totals(self) -> Check:
        """Check that the totals and shares follow from the leaves."""
        header, messages = self._header, []
        total, certified, falsified, undecided = (
            int(each)
            for each in (header.total, header.certified, header.falsified, header.undecided)
        )
        if total != self._total:
            messages.append(
                f"The proof certificate states {total:,} combinations, and the regions contain "
                f"{self._total:,}."
            )
        if total != certified + falsified + undecided:
            messages.append(
                "The certified, falsified and undecided parts do not add up to the whole."
            )
        for what, stated, name in (
            ("certified", certified, "consistent"),
            ("falsified", falsified, "discriminatory"),
        ):
            least, most = self._proven[name]
            if not least <= stated <= most:
                messages.append(
                    f"The proof certificate states that {stated:,} combinations are {what}; "
                    f"its regions have {most:,}."
                )
        for what, share, part, up in (
            ("certified", header.certified_share, certified, False),
            ("falsified", header.falsified_share, falsified, False),
            ("undecided", header.undecided_share, undecided, True),
        ):
            exact = Fraction(part, total) if total else Fraction(0)
            off = Fraction(share) - exact
            if (off < 0 if up else off > 0) or abs(off) > Fraction(1, 1 << 50):
                messages.append(f"The {what} share is not {share!r}.")
        return Check("The totals follow from the regions", 7, len(messages), 0, tuple(messages))


def _between(size: int, share: float) -> tuple[int, int]:
    """Return the least and the most whole number that so large a share of points can be read as.

    Who computes it in floating point comes out a little lower than who does so exactly.
    """
    numerator, denominator = share.as_integer_ratio()
    exact = numerator * size
    return (exact - (exact >> 48)) // denominator - 2 if share else 0, exact // denominator

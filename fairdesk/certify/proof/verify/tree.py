"""The tree of a certificate's boxes: where nodes lie, and in which leaves points are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.domain.ties import companion_of, standing
from fairdesk.certify.proof.certificate import (
    Arrays,
    Header,
)
from fairdesk.results.events import Rows

Nodes = NDArray[np.int64]


class Tree:
    """The boxes of a certificate, as they are read."""

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self._header, self._arrays = header, arrays
        inner = np.flatnonzero(arrays["first"] >= 0)
        self._parent = np.full(len(arrays["first"]), -1, dtype=np.int64)
        for step in (0, 1):
            self._parent[arrays["first"][inner].astype(np.int64) + step] = inner

    def boxes(self, nodes: Nodes) -> tuple[Places, Places, NDArray[np.int64]]:
        """Return the boxes of nodes, ``(n, a)``, and their roots: by climbing up from each."""
        arrays = self._arrays
        widest = len(self._header.axes)
        low = np.zeros((len(nodes), widest), dtype=np.int64)
        high = np.full((len(nodes), widest), np.iinfo(np.int64).max)
        at = nodes.astype(np.int64)
        climbing = np.flatnonzero(self._parent[at] >= 0)
        while climbing.size:
            child = at[climbing]
            parent = self._parent[child]
            axis = arrays["axis"][parent].astype(np.int64)
            cut = arrays["cut"][parent].astype(np.int64)
            second = child != arrays["first"][parent]
            up, down = climbing[second], climbing[~second]
            low[up, axis[second]] = np.maximum(low[up, axis[second]], cut[second] + 1)
            high[down, axis[~second]] = np.minimum(high[down, axis[~second]], cut[~second])
            at[climbing] = parent
            climbing = climbing[self._parent[parent] >= 0]
        low = np.maximum(low, arrays["root_low"][at])
        return low, np.minimum(high, arrays["root_high"][at]), at

    def places(self, people: Rows) -> tuple[Places, NDArray[np.bool_]]:
        """Find people along the axes, and who of them are there."""
        domain = self._header.domain
        places = np.zeros((len(people), len(self._header.axes)), dtype=np.int64)
        inside = np.ones(len(people), dtype=np.bool_)
        for i, axis in enumerate(self._header.axes):
            own = people[:, domain.names.index(axis.attribute)]
            if companion := companion_of(domain, axis.attribute):
                codes, which = np.unique(own, return_inverse=True)
                own = standing(domain, companion, codes, np.array(axis.codes))[which.ravel()]
            if axis.codes:
                order = np.argsort(axis.codes)
                found = np.clip(
                    np.searchsorted(np.array(axis.codes)[order], own), 0, axis.count - 1
                )
                places[:, i] = order[found]
            else:
                nearest = np.round((own - axis.low) / axis.spacing)
                places[:, i] = np.clip(nearest, 0, axis.count - 1).astype(np.int64)
            inside &= axis.code(places[:, i]) == own
        return places, inside

    def leaf(self, places: Places) -> Nodes:
        """Return the leaves that points are in, by going down from their roots."""
        arrays = self._arrays
        low, high = arrays["root_low"], arrays["root_high"]
        at = np.zeros(len(places), dtype=np.int64)
        inside = np.zeros(len(places), dtype=np.bool_)
        for root in range(len(low)):
            own = ~inside & (places >= low[root]).all(axis=1) & (places <= high[root]).all(axis=1)
            at[own] = root
            inside |= own
        going = np.flatnonzero(inside & (arrays["first"][at] >= 0))
        while going.size:
            node = at[going]
            axis = arrays["axis"][node].astype(np.int64)
            beyond = places[going, axis] > arrays["cut"][node]
            at[going] = arrays["first"][node].astype(np.int64) + beyond
            going = going[arrays["first"][at[going]] >= 0]
        return at[inside]

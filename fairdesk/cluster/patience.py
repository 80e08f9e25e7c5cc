"""How long a run on a cluster waits for its workers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterPatience:
    """How long is waited for what on a cluster, in seconds.

    Attributes
    ----------
    look : float
        Between two looks at who works and what was told.
    silence : float
        Until a worker of which the scheduler hears nothing is given up, and its shards are dealt
        again.
    nobody : float
        Until a run without any usable worker fails.
    slow : float
        A shard that takes so many times as long as the longest before is dealt again beside; the
        first result counts.
    least : float
        But no shard is dealt again before so long.
    stop : float
        For shards that are stopped to hand over what they have.
    losses : int
        So many workers may be lost with the same shard, not seconds but a count.
    """

    look: float = 0.5
    silence: float = 60.0
    nobody: float = 180.0
    slow: float = 10.0
    least: float = 300.0
    stop: float = 10.0
    losses: int = 3

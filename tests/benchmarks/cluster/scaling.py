"""What messages take, and a simulation of discrete events of up to 1,000 workers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from time import perf_counter
from uuid import uuid4

from distributed import Future

from fairdesk.cluster.connection import Connection

#: So many messages are timed.
MESSAGES = 200


@dataclass(frozen=True)
class Costs:
    """What things take, in seconds."""

    shard: float
    send: float
    schedule: float
    network: float
    merge: float = 0.0
    opening: float = 0.0


def messages(connection: Connection, opening: float) -> Costs:
    """Time small messages, one after the other and many at once; a shard's own costs come later."""

    def ask() -> Future[int]:
        return connection.submit(len, b"fairdesk", key=f"benchmark-{uuid4().hex}")

    began = perf_counter()
    for _ in range(MESSAGES):
        ask().result()
    turn = (perf_counter() - began) / MESSAGES
    began = perf_counter()
    asked = [ask() for _ in range(MESSAGES)]
    send = (perf_counter() - began) / MESSAGES
    for each in asked:
        each.result()
    each_of_many = (perf_counter() - began) / MESSAGES
    # a message passes the scheduler twice, and four times a network: that of this computer
    schedule = each_of_many / 2
    network = max(turn - send - each_of_many, 0.0) / 4
    return Costs(1.0, send, schedule, network, opening=opening)


def simulated(workers: int, shards: int, costs: Costs, ahead: int = 2) -> tuple[float, float]:
    """Return how long a run takes, and which share of it the client is busy.

    The client is one thread: it sends a shard, or merges one, at a time. Each worker has so many
    shards ahead. Every message passes the scheduler, which is one thread, too.
    """
    client = scheduler = costs.opening
    free = [costs.opening] * workers
    busy = 0.0
    dealt = min(ahead * workers, shards)
    # when what comes to whom: a shard or its result to the scheduler, a result to the client
    coming: list[tuple[float, str, int]] = []
    for number in range(dealt):
        client += costs.send
        busy += costs.send
        heapq.heappush(coming, (client + costs.network, "shard", number % workers))
    while coming:
        at, what, worker = heapq.heappop(coming)
        if what == "merge":
            client = max(client, at) + costs.merge
            busy += costs.merge
            if dealt < shards:
                dealt += 1
                client += costs.send
                busy += costs.send
                heapq.heappush(coming, (client + costs.network, "shard", worker))
            continue
        scheduler = max(scheduler, at) + costs.schedule
        if what == "result":
            heapq.heappush(coming, (scheduler + costs.network, "merge", worker))
        else:
            free[worker] = max(free[worker], scheduler + costs.network) + costs.shard
            heapq.heappush(coming, (free[worker] + costs.network, "result", worker))
    return client, busy / client


def simulate(name: str, costs: Costs, work: float, each: int | None) -> None:
    """Print how a run of so many seconds of work scales.

    ``costs`` are those of a shard of ``costs.shard`` seconds. Merging is in proportion to the work
    of a shard: to what was found and counted. A run is cut into shards as large as this one, or
    into so many (``each``) for each worker.
    """
    merged = costs.merge / costs.shard
    print(
        f"\n{name}: {work:,.0f} s of work; "
        + (f"{each} shards for each worker" if each else f"a shard {costs.shard:.2f} s")
        + f", sent in {1000 * costs.send:.1f} ms, scheduled in {1000 * costs.schedule:.1f} ms, "
        f"merged in {merged:.2%} of its time, the model opened in {costs.opening:.1f} s\n"
    )
    print(f"{'workers':>8} {'seconds':>9} {'speed-up':>9} {'efficiency':>11} {'client busy':>12}")
    for workers in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        shards = each * workers if each else max(int(work / costs.shard), 1)
        shard = work / shards
        cut = replace(costs, shard=shard, merge=merged * shard)
        seconds, busy = simulated(workers, shards, cut)
        gain = work / seconds
        print(f"{workers:>8,} {seconds:>9,.1f} {gain:>9,.1f} {gain / workers:>10.0%} {busy:>11.0%}")

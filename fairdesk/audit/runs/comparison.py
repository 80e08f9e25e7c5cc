"""Several runs side by side: what each found that others did not, and how widely it looked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.individual.realism.diversity import clusters, coverage, numbered
from fairdesk.results.events import Rows

#: Into so many groups of alike people the data are divided, to see how many a run has reached.
CLUSTERS = 20


@dataclass(frozen=True, slots=True)
class Overlap:
    """People whom exactly these runs found.

    Attributes
    ----------
    runs : tuple[int, ...]
        The runs' numbers, rising.
    n_samples : int
        How many, unique on what is not protected.
    """

    runs: tuple[int, ...]
    n_samples: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What several runs found, held against each other.

    Attributes
    ----------
    runs : tuple[RunRecord, ...]
        In the order asked for.
    union : int
        Unique people that all of them found together.
    overlaps : tuple[Overlap, ...]
        Who was found by exactly which of them, most people first; together the union.
    sizes : tuple[int, ...]
        The data's rows in each group of alike people.
    coverage : tuple[tuple[int, ...], ...]
        Per run: its findings in each of these groups.
    """

    runs: tuple[RunRecord, ...]
    union: int
    overlaps: tuple[Overlap, ...]
    sizes: tuple[int, ...]
    coverage: tuple[tuple[int, ...], ...]

    def sufficient_alone(self, run_id: int) -> int:
        """Count the people whom one run found and no other."""
        return sum(each.n_samples for each in self.overlaps if each.runs == (run_id,))


def compare(
    store: Store, run_ids: Sequence[int], watch: Callable[[float], None] = lambda _share: None
) -> Comparison:
    """Compare runs of one audit.

    Parameters
    ----------
    store : Store
        Opened in this thread.
    run_ids : sequence of int
        Which runs; each is in the store.
    watch : callable
        Told now and then which share of the findings was read; may raise to end it.
    """
    records = {run.id: run for run in store.runs()}
    runs = tuple(records[run_id] for run_id in run_ids)
    domain = store.spec.domain
    people = domain.people(store.table())
    groups = clusters(domain, people, CLUSTERS, np.random.default_rng(0))
    total, read = sum(run.found for run in runs) or 1, 0
    people_found, covered = [], []
    for run in runs:
        reached = np.zeros(len(groups.sizes), dtype=np.int64)
        found = [np.empty((0, len(domain.identifying)))]
        for rows in store.found_rows(run.id):
            reached += coverage(groups, rows)
            found.append(domain.identity(rows))
            read += len(rows)
            watch(min(read / total, 1.0))
        people_found.append(np.concatenate(found))
        covered.append(tuple(reached.tolist()))
    overlaps = _overlaps(people_found, run_ids)
    return Comparison(
        runs=runs,
        union=sum(each.n_samples for each in overlaps),
        overlaps=overlaps,
        sizes=tuple(np.asarray(groups.sizes).tolist()),
        coverage=tuple(covered),
    )


def _overlaps(found: Sequence[Rows], run_ids: Sequence[int]) -> tuple[Overlap, ...]:
    """Count who was found by exactly which runs; people are told apart by their whole rows."""
    person = numbered(np.concatenate(found))
    by = np.repeat(np.arange(len(found)), [len(each) for each in found])
    # a set of runs as a number would end at 64 of them; as a row of marks it does not
    found_by = np.zeros((person.max(initial=-1) + 1, len(found)), dtype=np.bool_)
    found_by[person, by] = True
    _, first, counts = np.unique(numbered(found_by), return_index=True, return_counts=True)
    overlaps = [
        Overlap(tuple(run_ids[i] for i in np.flatnonzero(marks).tolist()), count)
        for marks, count in zip(found_by[first], counts.tolist(), strict=True)
    ]
    return tuple(sorted(overlaps, key=lambda each: (-each.n_samples, len(each.runs), each.runs)))

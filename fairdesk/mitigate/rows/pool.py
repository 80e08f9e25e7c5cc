"""The rows that a repair may add, labelled, in the order in which portions take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.rows.labelling import Source, label
from fairdesk.mitigate.rows.rewriting import rewritten
from fairdesk.mitigate.rows.samples import Seen, moved
from fairdesk.mitigate.rows.splitting import Split
from fairdesk.population.nearest import Nearest
from fairdesk.results.events import Rows


@dataclass(frozen=True, slots=True)
class Pool:
    """Rows to add; a portion takes the first so many, so that a greater one holds every smaller.

    Attributes
    ----------
    rows, targets, pairs, seeds, texts
        As ``rows``, ``labels``, ``pairs``, ``seeds`` and ``texts`` of
        `fairdesk.results.mitigation.Augmented`.
    available : int
        How many pairs, or samples, there were to make rows of.
    notes : tuple[str, ...]
        What must be known of them: whole sentences.
    """

    rows: Rows
    targets: NDArray[np.int64]
    pairs: NDArray[np.int64]
    seeds: NDArray[np.int64]
    available: int
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def of_pairs(
    mitigation: MitigationContext, split: Split, labels: Source, most: int, rng: np.random.Generator
) -> Pool:
    """Make rows of discriminatory pairs: person, partner, person, partner, ...

    Flagged pairs come first; they, and all others after them, in random order, for those that a
    search found one after the other are like each other. Who is met a second time is left out, and
    so are pairs that are like a row to validate or to test with in everything but what is
    protected: nobody is trained with whom the result is told of.

    Parameters
    ----------
    labels : str
        Where labels come from; see `fairdesk.mitigate.rows.labelling`. But for ``"model"`` both
        people of a pair have the same one.
    most : int
        So many rows at most are made, and labelled: what the greatest portion can take.

    Raises
    ------
    ModelError, SpecError
        As `fairdesk.mitigate.rows.labelling.label` says.
    """
    flagged = min(mitigation.flagged, len(mitigation.pairs))
    order = np.concatenate(
        [rng.permutation(flagged), flagged + rng.permutation(len(mitigation.pairs) - flagged)]
    )
    held_out = np.concatenate([split.validation, split.test])
    seen = Seen(mitigation.domain, mitigation.rows[held_out])
    like = seen.barred(mitigation.pairs[order])
    fine = order[~like]
    fine = fine[seen.new(mitigation.pairs[fine])]
    chosen = fine[: most // 2]
    rows = np.stack([mitigation.pairs[chosen], mitigation.partners[chosen]], axis=1)
    both = rows.reshape(-1, mitigation.rows.shape[1])
    return Pool(
        rows=both,
        targets=label(mitigation, split, both, labels, rng)
        if labels == "model"
        else np.repeat(label(mitigation, split, rows[:, 0], labels, rng), 2),
        pairs=np.repeat(mitigation.numbers[chosen], 2),
        seeds=np.repeat(_nearest(mitigation.domain, mitigation.rows, split, rows[:, 0]), 2),
        available=len(fine),
        notes=tuple(_notes(mitigation.domain, int(like.sum()), len(chosen), most, labels)),
    )


def of_rule(
    mitigation: MitigationContext, split: Split, most: int, rng: np.random.Generator
) -> Pool:
    """Make samples of a rule set, to whom the model gives the outcome too often, or too seldom.

    They have the opposite label (TestSGD's mitigation). See `fairdesk.mitigate.rows.samples`, and
    of a rule about a text `fairdesk.mitigate.rows.rewriting`.

    Parameters
    ----------
    split : Split
        The parts of the data; samples are made from those to train with.
    most : int
        So many at most.

    Raises
    ------
    ModelError
        When the model refuses them.
    SpecError
        When there is nobody to make them from, or nothing to repair.
    """
    make = rewritten if mitigation.text else moved
    made = make(mitigation, split, most, rng)
    return Pool(
        rows=made.rows,
        targets=made.targets,
        pairs=np.full(len(made.rows), -1, dtype=np.int64),
        seeds=made.seeds.astype(np.int64),
        available=len(made.rows),
        texts=made.texts,
        notes=made.notes,
    )


def _nearest(domain: Domain, table: Rows, split: Split, rows: Rows) -> NDArray[np.int64]:
    """Return the place of the nearest row to train with, ``(m,)``."""
    _, index = Nearest(domain, table[split.train]).find(rows)
    return split.train[index].astype(np.int64)


def _notes(domain: Domain, like: int, pairs: int, most: int, labels: Source) -> list[str]:
    notes = []
    if like:
        notes.append(
            f"Excluded: {_pairs(like)} whose values, apart from protected attributes, equal those "
            "of a validation or test row."
        )
    if 2 * pairs < most - 1:
        notes.append(
            f"Only {_pairs(pairs)} are available as augmentation rows: {2 * pairs:,} rows, while "
            f"the largest augmentation size could use {most:,}."
        )
    if labels == "majority" and domain.texts.size:
        notes.append("The five models that vote on labels do not use texts.")
    if labels == "model":
        notes.append(
            "Augmentation rows have the model’s own labels, different ones for the two "
            "members of a pair: expect more discrimination, not less."
        )
    return notes


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"

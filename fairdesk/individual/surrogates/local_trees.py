"""Local explanations: samples around people, asked about together, and the trees that fit them.

The samples are those of LIME for tables (Ribeiro et al., "“Why Should I Trust You?” Explaining the
Predictions of Any Classifier", KDD 2016), around the person and weighted by nearness; the model
fitted to them is a decision tree, as in Agarwal et al. 2018. The samples of many people are drawn,
asked about and fitted together, which is faster than `lime_trees`, where LIME's own program draws
them.
"""

from __future__ import annotations

import numpy as np

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.cached_model import CachedModel
from fairdesk.individual.surrogates.paths import Path, Predicate
from fairdesk.models.model import labels
from fairdesk.results.events import Rows

#: The kernel's width for one attribute, in standard deviations; LIME's own default.
KERNEL_WIDTH = 0.75
#: So often a sample that breaks a constraint goes half of the way back to the person.
RETREATS = 4


class LocalTrees:
    """Explains people, many at a time; each explanation hangs on the person alone.

    Parameters
    ----------
    asked : AskedModel
        The model; only its decisions are used.
    domain : Domain
        Where samples may lie.
    people : Rows
        ``(n, d)``; real people, in the domain: they tell how far attributes spread.
    samples : int
        How many samples are taken around a person, themselves among them.
    depth : int
        A path has at most so many predicates.
    rng : np.random.Generator
        Gives one number; with the person, that is the source of all randomness.
    """

    def __init__(
        self,
        model: CachedModel,
        domain: Domain,
        people: Rows,
        samples: int,
        depth: int,
        rng: np.random.Generator,
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415
        from fairdesk.individual.surrogates import tree_kernels  # noqa: PLC0415

        self._row_keys, self._tree_paths = kernels.row_keys, tree_kernels.tree_paths
        self._model, self._domain = model, domain
        self._samples, self._depth = samples, depth
        self._seed = rng.integers(2**63, dtype=np.uint64)
        free = np.concatenate([domain.varying, domain.protected])
        drawn = np.array([is_drawn(domain.attributes[i]) for i in free])
        self._drawn, self._moved = np.sort(free[drawn]), np.sort(free[~drawn])
        self._free = np.sort(free).astype(np.int64)
        spread = people[:, self._moved].std(axis=0)
        self._spread = np.where(spread > 0, spread, domain.unit[self._moved])
        self._values = [_frequencies(domain.attributes[i], people[:, i]) for i in self._drawn]

    def paths(self, rows: Rows, beside: Rows | None = None) -> list[Path]:
        """Explain people.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        beside : Rows, optional
            ``(m, d)``; who else is asked about in the same batch, and remembered.

        Returns
        -------
        list of Path
            Of each the path of their tree, empty where all samples are decided alike.
        """
        samples, weights = self._draw_samples(rows)
        flat = samples.reshape(-1, samples.shape[2])
        asked = flat if beside is None else np.concatenate([flat, beside])
        predicted_class = labels(self._model.predict(asked))[: len(flat)]
        classes = predicted_class.astype(np.int64).reshape(weights.shape)
        found, thresholds, above, confidence = self._tree_paths(
            samples,
            classes,
            weights,
            self._free,
            self._domain.spacing,
            max(int(classes.max()) + 1, 2),
            self._depth,
        )
        lengths = (found >= 0).sum(axis=1).tolist()
        return [
            tuple(
                map(
                    Predicate,
                    *(each[i, :length].tolist() for each in (found, above, thresholds, confidence)),
                )
            )
            for i, length in enumerate(lengths)
        ]

    def _draw_samples(self, rows: Rows) -> tuple[Rows, Rows]:
        """Draw samples around people, themselves first: ``(n, s, d)``; and weights ``(n, s)``."""
        domain, shape = self._domain, (len(rows), self._samples)
        samples = np.repeat(rows[:, None, :], self._samples, axis=1)
        steps = np.empty((*shape, len(self._moved)))
        lots = np.empty((*shape, len(self._drawn)))
        for i, key in enumerate(self._row_keys(np.ascontiguousarray(rows))):
            # a stream for each person: whoever is explained beside them changes nothing
            stream = np.random.Generator(np.random.Philox(key=np.array([self._seed, key])))
            stream.standard_normal(out=steps[i])
            stream.random(out=lots[i])
        samples[:, 1:, self._moved] += steps[:, 1:] * self._spread
        samples[:, 1:, self._moved] = domain.clip(samples[:, 1:, self._moved], self._moved)
        for j, (attribute, (values, odds)) in enumerate(
            zip(self._drawn, self._values, strict=True)
        ):
            samples[:, 1:, attribute] = values[np.searchsorted(odds, lots[:, 1:, j], side="right")]
        if domain.has_constraints:
            self._retreat(rows, samples)
        far = (samples[..., self._moved] - rows[:, None, self._moved]) / self._spread
        other = samples[..., self._drawn] != rows[:, None, self._drawn]
        squares = (far * far).sum(axis=2) + other.sum(axis=2)
        width = KERNEL_WIDTH**2 * len(self._free)
        return samples, np.exp(-squares / (2 * width))

    def _retreat(self, rows: Rows, samples: Rows) -> None:
        """Bring samples that break a constraint nearer to the person, in place.

        The person breaks none. Again and again half of what is not yet theirs becomes theirs; who
        still may not be then becomes the person, who is asked about anyway.
        """
        domain, people = self._domain, np.repeat(np.arange(len(rows)), self._samples)
        flat = domain.apply_dependencies(samples).reshape(-1, samples.shape[2])
        barred = np.flatnonzero(~domain.allowed(flat))
        for retreat in range(RETREATS):
            if not barred.size:
                return
            # which half hangs on the sample's place and the attribute's: no more chance is needed
            back = (barred[:, None] + np.arange(flat.shape[1]) >> retreat) % 2 == 0
            flat[barred] = domain.apply_dependencies(
                np.where(back, rows[people[barred]], flat[barred])
            )
            barred = barred[~domain.allowed(flat[barred])]
        flat[barred] = rows[people[barred]]


def is_drawn(attribute: Attribute) -> bool:
    """Return whether samples have another of its values, rather than one that is a little off."""
    return attribute.kind is Kind.NOMINAL or attribute.role is Role.PROTECTED


def _frequencies(attribute: Attribute, codes: Rows) -> tuple[Rows, Rows]:
    """Return the values that real people have, and their cumulated frequencies."""
    if attribute.role is Role.PROTECTED:
        codes = np.array(attribute.compared)[attribute.nearest_compared(codes)]
    values, counts = np.unique(codes, return_counts=True)
    return values, np.cumsum(counts[:-1]) / counts.sum()

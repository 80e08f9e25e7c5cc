"""MAFT, EIDIG and ADF: what they find, why ADF finds fewer, and how well slopes are estimated.

The models are those of the papers' own artifact. Published figures are from the logs that the
authors of MAFT keep beside their program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from scipy import stats

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches import adf, eidig, maft, uniform
from fairdesk.individual.searches.gradient_walks import GradientWalks
from fairdesk.individual.searches.options import (
    AdfOptions,
    EidigOptions,
    MaftOptions,
    UniformOptions,
    WalkOptions,
)
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Rows, timed
from tests.benchmarks.measuring import DATA, Case, Measured, counts, load, measure
from tests.benchmarks.papers.table import Table, spread
from tests.references import programs

_FILES = {
    "C": ("eidig_census.csv", "eidig_adult.h5", "income"),
    "G": ("eidig_german.csv", "eidig_german.h5", "CREDITRATING"),
    "B": ("eidig_bank.csv", "eidig_bank.h5", "y"),
}
_NAMES = {
    "C-a": ("age",),
    "C-r": ("race",),
    "C-g": ("sex",),
    "C-a&r": ("age", "race"),
    "C-a&g": ("age", "sex"),
    "C-r&g": ("race", "sex"),
    "G-g": ("PersonStatusSex",),
    "G-a": ("AgeInYears",),
    "G-g&a": ("PersonStatusSex", "AgeInYears"),
    "B-a": ("age",),
}
#: The rows of the German data that the authors train on, and start from.
_GERMAN_SEEDS = 600
#: Mean of three rounds with 1,000 seeds and 1,000 local steps.
_LARGE = {
    "C-a": 322_927,
    "C-r": 95_454,
    "C-g": 56_026,
    "G-g": 28_826,
    "G-a": 236_412,
    "B-a": 269_386,
}
#: Mean of three rounds with 20 seeds and 20 local steps: ADF, EIDIG, MAFT.
_SMALL = {
    "C-a": (125, 204, 205),
    "C-r": (44, 89, 93),
    "C-g": (45, 42, 34),
    "C-a&r": (192, 232, 227),
    "C-a&g": (178, 219, 225),
    "C-r&g": (133, 146, 148),
    "G-g": (43, 63, 60),
    "G-a": (150, 176, 194),
    "G-g&a": (190, 209, 211),
    "B-a": (184, 187, 191),
}
_SEARCHES: tuple[tuple[Callable[..., Any], type[WalkOptions]], ...] = (
    (adf.search, AdfOptions),
    (eidig.search, EidigOptions),
    (maft.search, MaftOptions),
)


def case(name: str) -> Case:
    """Open the model of a benchmark, named as in the paper."""
    data, model, label = _FILES[name[0]]
    return load(DATA / "encoded" / data, DATA / "models" / model, label, "1", _NAMES[name])


def run(
    case: Case,
    search: Callable[..., Any],
    options: Any,
    seed: int,
    criterion: Criterion | None = None,
) -> Measured:
    """Run a search once."""
    rng = np.random.default_rng(seed)

    def program(model: Any) -> tuple[int, int]:
        context = SearchContext(model, case.domain, criterion=criterion)
        return counts(lambda _: search(context, case.people, options, rng))(model)

    return measure(case.model, program)


def tables(*, seeds: int, quick: bool) -> Iterator[Table]:
    """Measure the tables."""
    seeds = min(seeds, 3) if quick else seeds
    yield _many(seeds, 100 if quick else 1_000)
    yield _few(seeds)
    yield _why(seeds)
    yield _likeness(quick)


def _many(seeds: int, size: int) -> Table:
    lines = []
    for name, published in _LARGE.items():
        each = case(name)
        starts = min(size, _GERMAN_SEEDS) if name.startswith("G") else size
        options = MaftOptions(global_num=starts, local_num=size)
        criterion = Criterion.fit(each.domain, each.people)
        every, kept = (
            [run(each, maft.search, options, seed, only) for seed in range(seeds)]
            for only in (None, criterion)
        )
        rows = int(np.mean([one.queries for one in every]))
        draws = UniformOptions(samples=rows // len(each.domain.combinations))
        lines.append(
            (
                name,
                f"{published:,}" if size == 1_000 else "",
                spread(one.unique for one in every),
                spread(one.unique for one in kept),
                spread(run(each, uniform.search, draws, seed).unique for seed in range(seeds)),
                spread((one.rows_per_unique for one in every), 1),
                spread((one.cpu for one in every), 1),
            )
        )
    head = ("", "published", "found", "plausible only", "uniform, as many rows")
    return Table(
        f"MAFT, {size:,} seeds and {size:,} local steps: instances found",
        (*head, "rows per instance", "CPU s"),
        lines,
        "Published: mean of three rounds in a log of the authors' program, which takes 1,130 to "
        "15,698 s a round. It counts rows that differ in protected values alone as several, and 1 "
        "to 2 % that are invalid; here each is one instance, and valid. German credit: 600 seeds, "
        "as there.",
    )


def _few(seeds: int) -> Table:
    lines, sums = [], np.zeros((2, 3))
    for name, published in _SMALL.items():
        each = case(name)
        ours = [
            [
                run(each, search, kind(global_num=20, local_num=20), seed).unique
                for seed in range(seeds)
            ]
            for search, kind in _SEARCHES
        ]
        sums += [published, np.mean(ours, axis=1)]
        cells = zip(published, ours, strict=True)
        lines.append((name, *(cell for old, new in cells for cell in (str(old), spread(new)))))
    fewer = 100 * (1 - sums[:, 0] / sums[:, 1])
    return Table(
        "The white-box methods, 20 seeds and 20 local steps: instances found",
        (
            "",
            *(
                f"{name}, {who}"
                for name in ("ADF", "EIDIG", "MAFT")
                for who in ("published", "ours")
            ),
        ),
        lines,
        f"Published: mean of three rounds, in a log of the authors of MAFT. In sum ADF finds "
        f"{fewer[0]:.0f} % fewer than EIDIG there and {fewer[1]:.0f} % fewer here; EIDIG's "
        "abstract says that EIDIG finds 19 % more.",
    )


def _why(seeds: int) -> Table:
    names = ("C-g", "C-r", "G-a", "B-a")
    options = AdfOptions(global_num=100, local_num=100)
    cases = [case(name) for name in names]

    def walks(slopes: Callable[..., Any], **more: Any) -> Callable[..., Any]:
        def search(context: SearchContext, people: Any, options: Any, rng: Any) -> Any:
            walk = GradientWalks(context, options, rng, lambda rows: slopes(context, rows), **more)
            return timed(walk.run(people))

        return search

    variants = {
        "ADF": walks(adf.loss_slopes),
        "ADF, gradients renewed every 5 successes": walks(adf.loss_slopes, update_interval=5),
        "ADF, momentum 0.5": walks(adf.loss_slopes, decay=0.5),
        "EIDIG": walks(eidig.output_slopes, decay=0.5, update_interval=5),
        "EIDIG, gradients renewed at every step": walks(eidig.output_slopes, decay=0.5),
        "EIDIG, no momentum": walks(eidig.output_slopes, update_interval=5),
    }
    lines = [
        (
            name,
            *(
                spread(run(each, search, options, seed).unique for seed in range(seeds))
                for each in cases
            ),
        )
        for name, search in variants.items()
    ]
    few = min(seeds, 5)
    plain = [
        spread(
            programs.adf(
                each.model, each.domain, each.people, options, np.random.default_rng(seed)
            )[0]
            for seed in range(few)
        )
        for each in cases
    ]
    lines.append((f"ADF's own program, step by step ({few} seeds)", *plain))
    return Table(
        "Why ADF finds fewer than EIDIG, 100 seeds and 100 local steps: instances found",
        ("", *names),
        lines,
        "The momentum of the global phase is the whole difference: with it ADF finds as many as "
        "EIDIG, and without it EIDIG as few as ADF. Which gradient it is, and how often it is "
        "renewed, changes little. ADF's own program differs from its paper: its local search does "
        "not return to the seed but goes on from one in three instances that are not "
        "discriminatory, and finds fewer still.",
    )


def _likeness(quick: bool) -> Table:
    lines = []
    for name in _LARGE:
        each, rng = case(name), np.random.default_rng(0)
        context = SearchContext(each.model, each.domain)
        rows, _ = each.domain.admit(clustered_seeds(each.people, 4, 200 if quick else 1_000, rng))
        maft.ZeroOrder(context, 1.0)(rows[:2])  # warm-up
        started = process_time()
        estimated = maft.ZeroOrder(context, 1.0)(rows)
        together, started = process_time() - started, process_time()
        alone = _one_by_one(each, rows)
        apart = process_time() - started
        true = eidig.output_slopes(context, rows)
        mixed = estimated[rng.permutation(len(rows))]
        lines.append(
            (
                name,
                *(f"{_cosine(true, other):.3f}" for other in (estimated, mixed)),
                f"{stats.ttest_ind(true.ravel(), estimated.ravel()).pvalue:.1g}",
                f"{np.abs(alone - estimated).max():.0e}",
                f"{apart / together:.0f}",
            )
        )
    return Table(
        "MAFT's third question: its estimate (perturbation size 1) beside EIDIG's gradient",
        (
            *("", "cosine", "cosine, rows mixed up", "t-test, p"),
            *("Algorithm 1 differs by", "and takes, times as long"),
        ),
        lines,
        "Cosine: mean over the rows. The paper also makes a t-test, an ANOVA and a PCA of all "
        "components. They compare how the components of all rows are distributed, so their "
        "results do not change where the estimates are dealt to other rows (“rows mixed up”), "
        "for which the "
        "cosine falls; and with so many rows the t-test rejects whatever the likeness. So the "
        "diagnostic leaves them out. Algorithm 1 queries the same rows as Algorithm 2, one at a "
        "time, and gives the same estimate: it is not an option.",
    )


def _one_by_one(case: Case, rows: Rows) -> Rows:
    """Estimate gradients with one query at a time (MAFT, Algorithm 1), backwards at the edge."""
    domain, predict = case.domain, case.model.predict
    steps = domain.whole_steps(1.0)
    slopes = np.empty((len(rows), len(domain.varying)))
    for row, slope in zip(rows, slopes, strict=True):
        own = float(predict(row[None])[0, 0])
        for place, i in enumerate(domain.varying):
            sign = 1.0 if row[i] + steps[i] <= domain.high[i] else -1.0
            moved = row.copy()
            moved[i] += sign * steps[i]
            change = sign * (float(predict(moved[None])[0, 0]) - own)
            slope[place] = change if own > 0.5 else -change
    return slopes


def _cosine(one: Rows, other: Rows) -> float:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    known = lengths > 0
    return float(((one * other).sum(axis=1)[known] / lengths[known]).mean())

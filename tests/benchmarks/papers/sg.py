"""Symbolic Generation's tables: what it finds beside THEMIS, phase by phase, and by which choices.

The models are those of the paper's time: logistic regressions as scikit-learn fitted them by
default in 2018 (liblinear), on categories coded as whole numbers.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import symbolic, uniform
from fairdesk.individual.searches.options import SymbolicOptions, UniformOptions
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Measured, Metric, Progress
from fairdesk.results.individual import SearchPhase
from tests.benchmarks.measuring import DATA, Case, pickled
from tests.benchmarks.papers.sources import Fitted, adult, adult_domain
from tests.benchmarks.papers.table import Table, spread

CASES = 1_000
#: Pairs found among 1,000 test cases in the paper: by Symbolic Generation, and by THEMIS.
_PUBLISHED = {
    "german/gender": (598, 166),
    "german/age": (359, 90),
    "adult/race": (175, 70),
    "adult/sex": (462, 1),
    "census/race": (609, 57),
    "census/sex": (176, 7),
    "bank/age": (1, 0),
}
#: Data, label, favourable label, and what is left out.
_TABLES = {
    "german": ("tabular/german_credit.csv", "credit_risk", "good", ["personal_status_sex"]),
    "adult": ("tabular/adult.csv", "income", ">50K", ["fnlwgt", "split", "education_num"]),
    "bank": ("encoded/eidig_bank.csv", "y", "1", []),
}
_PROTECTED = {"german/gender": "sex"}
#: The two on which choices are compared.
_BOTH = ("german/gender", "adult/sex")
_FEWER = {"num_samples": 1_000}
#: Seeds where choices are compared.
_FEW = 3
_PHASES = ("seeds", "directed", "undirected")
#: A benchmark of which the model discriminates about as often as the paper's.
_STEEPER = "census/race, its coefficient × 8"


class _Run(NamedTuple):
    """What one search came to."""

    found: int
    queries: int
    seconds: float
    phases: dict[str, SearchPhase]

    @property
    def paths(self) -> int:
        return sum(each.paths for each in self.phases.values())


def tables(*, seeds: int, quick: bool) -> Iterator[Table]:
    """Measure the tables: what was published with all seeds, and choices with a few."""
    warnings.simplefilter("ignore")
    seeds = 1 if quick else seeds
    names = _BOTH if quick else (*_PUBLISHED, _STEEPER)
    runs = {name: [_searched(_case(name), seed) for seed in range(seeds)] for name in names}
    yield _beside_themis(runs, seeds)
    yield _phases(runs)
    few = min(seeds, _FEW)
    yield _causes({name: runs[name][:few] for name in _BOTH}, few)
    if not quick:
        yield _switches(few)
        yield _thresholds(few)


def _beside_themis(runs: dict[str, list[_Run]], seeds: int) -> Table:
    lines = []
    for name, found in runs.items():
        case = _case(name)
        drawn = spread(_sampled(case, seed) for seed in range(seeds))
        plausible: tuple[str, ...] = ("", "")
        if name in _BOTH:
            criterion = Criterion.fit(case.domain, case.people)
            kept = (_searched(case, seed, criterion).found for seed in range(min(seeds, _FEW)))
            usual = (_sampled(case, seed, criterion) for seed in range(seeds))
            plausible = (spread(kept), spread(usual))
        published, themis = _PUBLISHED.get(name, ("", ""))
        ours = spread(each.found for each in found)
        lines.append((name, f"{published}", ours, f"{themis}", drawn, *plausible))
    return Table(
        "Discriminatory instances among 1,000 test cases, beside THEMIS",
        (
            *("benchmark", "paper", "here", "THEMIS, paper", "random instances, here"),
            *("here, plausible only", "random, plausible only"),
        ),
        lines,
    )


def _phases(runs: dict[str, list[_Run]]) -> Table:
    lines = []
    for name, found in runs.items():
        paths = next(iter(found[0].phases.values())).all_paths
        reached = f"{spread(each.paths for each in found)} of {paths}"
        lines.append((name, *(_of(found, phase) for phase in _PHASES), reached))
    return Table(
        "Found of tested, by phase, and paths reached of those of a decision tree fitted to the "
        "model's decisions",
        ("benchmark", *_PHASES, "paths"),
        lines,
    )


def _of(runs: list[_Run], phase: str) -> str:
    """Say how many were found, of how many that were tested, in a phase."""
    held = [each.phases.get(phase, SearchPhase(phase, 0, 0)) for each in runs]
    found, tried = (spread(getattr(each, of) for each in held) for of in ("found", "tried"))
    return f"{found} of {tried}"


def _causes(runs: dict[str, list[_Run]], seeds: int) -> Table:
    """Change one thing after the other from the search of before to the paper's."""
    steps: dict[str, tuple[bool, dict[str, Any]]] = {
        "own samples (100), branch, one-hot": (True, {**_OWN, "confidence": "branch"}),
        "own samples (100), branch": (False, {**_OWN, "confidence": "branch"}),
        "own samples (100), path": (False, _OWN),
        "LIME (1,000), branch": (False, {**_FEWER, "confidence": "branch"}),
        "LIME (1,000), path": (False, _FEWER),
    }
    lines = []
    for title, (one_hot, options) in steps.items():
        cells = []
        for name in _BOTH:
            case = _case(name, one_hot=one_hot)
            cells += _price([_searched(case, seed, **options) for seed in range(seeds)])
        lines.append((title, *cells))
    last = [cell for name in _BOTH for cell in _price(runs[name])]
    lines.append(("LIME (5,000), path: the default", *last))
    return Table(
        f"What the counts depend on: found, queries per pair, CPU seconds ({seeds} seeds)",
        ("explanation, confidence", *(f"{name}, {of}" for name in _BOTH for of in _PRICES)),
        lines,
    )


_OWN = {"explanation": "own", "num_samples": 100}
_PRICES = ("found", "queries per pair", "CPU s")


def _price(runs: list[_Run]) -> list[str]:
    return [
        spread(each.found for each in runs),
        f"{np.mean([each.queries / max(each.found, 1) for each in runs]):,.0f}",
        f"{np.mean([each.seconds for each in runs]):,.0f}",
    ]


def _switches(seeds: int) -> Table:
    switches: dict[str, dict[str, Any]] = {
        "all": {},
        "data rows as seeds": {"seeds": "data"},
        "random instances as seeds": {"seeds": "random"},
        "without directed search": {"directed": "no"},
        "without undirected search": {"undirected": "no"},
        "seeds only": {"directed": "no", "undirected": "no"},
    }
    lines = []
    for title, options in switches.items():
        cells = []
        for name in _BOTH:
            runs = [_searched(_case(name), seed, **options, **_FEWER) for seed in range(seeds)]
            cells += [spread(each.found for each in runs), _of(runs, "seeds")]
            cells.append(spread(each.paths for each in runs))
        lines.append((title, *cells))
    return Table(
        f"Seeds and phases: found, of the seeds alone, and paths reached (1,000 local samples, "
        f"{seeds} seeds)",
        ("", *(f"{name}, {of}" for name in _BOTH for of in ("found", "seeds", "paths"))),
        lines,
    )


def _thresholds(seeds: int) -> Table:
    lines = []
    for first, second in ((0.3, 0.1), (0.3, 0.2), (0.3, 0.4), (0.3, 1.01), (0.1, 0.2), (0.6, 0.2)):
        cells = []
        for name in _BOTH:
            options = {"T1": first, "T2": second, **_FEWER}
            runs = [_searched(_case(name), seed, **options) for seed in range(seeds)]
            cells += [spread(each.found for each in runs), spread(each.paths for each in runs)]
        lines.append((f"{first:g}", f"{second:g}", *cells))
    return Table(
        f"Influence of T₁ and T₂: found, and paths reached (1,000 local samples, {seeds} seeds)",
        ("T₁", "T₂", *(f"{name}, {of}" for name in _BOTH for of in ("found", "paths"))),
        lines,
    )


@cache
def _case(name: str, *, one_hot: bool = False) -> Case:
    """Fit a benchmark's model."""
    table, attribute = name.partition(",")[0].split("/")
    attribute = _PROTECTED.get(name, attribute)
    classifier = LogisticRegression(solver="liblinear")
    if table == "census":
        rows, income = adult()
        domain, _ = adult_domain(attribute), classifier.fit(rows, income)
        if name == _STEEPER:
            classifier.coef_[0, domain.protected] *= 8
        return Case(Fitted(classifier), domain, rows)
    file, label, favourable, dropped = _TABLES[table]
    data = pd.read_csv(DATA / file, na_values="?").dropna().drop(columns=dropped)
    if not one_hot:
        for column in data.columns.drop(label):
            if not pd.api.types.is_numeric_dtype(data[column]):
                data[column] = data[column].astype("category").cat.codes.astype(int)
    with tempfile.TemporaryDirectory() as folder:
        return pickled(Path(folder), classifier, data, label, favourable, [attribute])


def _searched(case: Case, seed: int, criterion: Criterion | None = None, **options: Any) -> _Run:
    context = SearchContext(case.model, case.domain, criterion=criterion)
    began, phases, last = process_time(), tuple[Metric, ...](), None
    events = symbolic.search(
        context,
        case.people,
        SymbolicOptions(max_iter=CASES, **options),
        np.random.default_rng(seed),
    )
    for event in events:
        if isinstance(event, Measured):
            phases = event.figures
        elif isinstance(event, Progress):
            last = event
    assert last is not None
    return _Run(
        last.found,
        last.queries,
        process_time() - began,
        {each.phase: each for each in phases if isinstance(each, SearchPhase)},
    )


def _sampled(case: Case, seed: int, criterion: Criterion | None = None) -> int:
    """Return how many of 1,000 random instances are discriminatory."""
    context = SearchContext(case.model, case.domain, criterion=criterion)
    options = UniformOptions(samples=CASES)
    last = None
    for event in uniform.search(context, case.people, options, np.random.default_rng(seed)):
        last = event if isinstance(event, Progress) else last
    assert last is not None
    return last.found

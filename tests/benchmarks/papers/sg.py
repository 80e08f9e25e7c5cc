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
from fairdesk.population.criterion import Criterion
from fairdesk.results.events import Measured, Progress
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
    """Measure the tables."""
    warnings.simplefilter("ignore")
    seeds = 1 if quick else seeds
    names = _BOTH if quick else tuple(_PUBLISHED)
    runs = {name: [_searched(_case(name), seed) for seed in range(seeds)] for name in names}
    yield _beside_themis(runs, seeds)
    yield _phases(runs)
    yield _coverage(runs, seeds)
    yield _causes(runs, seeds)
    if not quick:
        yield _seeds(seeds)
        yield _thresholds(seeds)


def _beside_themis(runs: dict[str, list[_Run]], seeds: int) -> Table:
    lines = []
    for name, found in runs.items():
        case = _case(name)
        criterion = Criterion.fit(case.domain, case.people)
        plausible = [_searched(case, seed, criterion=criterion) for seed in range(seeds)]
        drawn = (_sampled(case, seed) for seed in range(max(seeds, 5)))
        usual = (_sampled(case, seed, criterion) for seed in range(max(seeds, 5)))
        published, themis = _PUBLISHED[name]
        lines.append(
            (
                *(name, str(published), spread(each.found for each in found)),
                *(str(themis), spread(drawn)),
                *(spread(each.found for each in plausible), spread(usual)),
            )
        )
    return Table(
        "Discriminatory instances among 1,000 test cases, beside THEMIS",
        (
            *("benchmark", "paper", "here", "THEMIS, paper", "random instances, here"),
            *("here, plausible pairs", "random, plausible pairs"),
        ),
        lines,
    )


def _phases(runs: dict[str, list[_Run]]) -> Table:
    names = ("seeds", "directed", "undirected")
    lines = []
    for name, found in runs.items():
        held = [[run.phases.get(each, SearchPhase(each, 0, 0)) for run in found] for each in names]
        lines.append(
            (
                name,
                *(
                    _of([each.found for each in phase], [each.tried for each in phase])
                    for phase in held
                ),
            )
        )
    return Table("Found of tested, by phase", ("benchmark", *names), lines)


def _coverage(runs: dict[str, list[_Run]], seeds: int) -> Table:
    lines = []
    for name, found in runs.items():
        case = _case(name)
        cells = [
            spread(
                _searched(case, seed, directed="no", undirected=undirected, seeds=start).paths
                for seed in range(seeds)
            )
            for start, undirected in (("random", "no"), ("data", "no"), ("clustered", "yes"))
        ]
        paths = next(iter(found[0].phases.values())).all_paths
        lines.append((name, str(paths), *cells, spread(each.paths for each in found)))
    return Table(
        "Path coverage: paths of a decision tree that 1,000 test cases reach",
        (
            *("benchmark", "paths", "random instances", "data rows"),
            *("undirected search only", "all phases"),
        ),
        lines,
    )


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
        "What the counts hang on: found, queries per pair, CPU seconds",
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


def _of(found: list[int], tried: list[int]) -> str:
    return f"{spread(found)} of {np.mean(tried):,.0f}"


def _seeds(seeds: int) -> Table:
    lines = []
    for name in _BOTH:
        for start in ("clustered", "data", "random"):
            runs = [_searched(_case(name), seed, seeds=start, **_FEWER) for seed in range(seeds)]
            first = [each.phases["seeds"] for each in runs]
            lines.append(
                (
                    *(name, start, spread(each.found for each in runs)),
                    _of([each.found for each in first], [each.tried for each in first]),
                    spread(each.paths for each in runs),
                )
            )
    return Table(
        "Seeds: found, of the seeds alone, and paths reached (1,000 local samples)",
        ("benchmark", "seeds", "found", "seeds found of tested", "paths"),
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
        "Influence of T₁ and T₂: found, and paths reached (1,000 local samples)",
        ("T₁", "T₂", *(f"{name}, {of}" for name in _BOTH for of in ("found", "paths"))),
        lines,
    )


@cache
def _case(name: str, *, one_hot: bool = False) -> Case:
    """Fit a benchmark's model."""
    table, attribute = name.split("/")
    attribute = _PROTECTED.get(name, attribute)
    classifier = LogisticRegression(solver="liblinear")
    if table == "census":
        rows, income = adult()
        return Case(Fitted(classifier.fit(rows, income)), adult_domain(attribute), rows)
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
    began, phases, last = process_time(), (), None
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

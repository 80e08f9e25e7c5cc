"""Plausible pairs of every search on every data set, beside uniform sampling from the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.implementations import load as load_search
from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.model import Model
from fairdesk.population.plausible import Criterion
from fairdesk.population.similarity import atn
from fairdesk.results.events import Found, Progress, Rows
from tests.benchmarks import measuring
from tests.benchmarks.measuring import DATA, Case
from tests.benchmarks.papers.table import spread

SAMPLES = Path(__file__).parents[3] / "resources" / "samples"
#: By what each is called: data, model, label, favourable value, protected attributes.
CASES = {
    "adult sample": (
        *(SAMPLES / "adult" / "adult.csv", SAMPLES / "adult" / "adult_network.keras"),
        *("income", ">50K", ("sex", "race")),
    ),
    "adult, pipeline": (
        *(SAMPLES / "adult" / "adult.csv", SAMPLES / "adult" / "adult_pipeline.pkl"),
        *("income", ">50K", ("sex", "race")),
    ),
    "loan sample": (
        *(SAMPLES / "loanapp" / "loanapp.csv", SAMPLES / "loanapp" / "loanapp_pipeline.joblib"),
        *("approved", "yes", ("sex", "race")),
    ),
    "census/sex": (
        *(DATA / "encoded" / "eidig_census.csv", DATA / "models" / "eidig_adult.h5"),
        *("income", "1", ("sex",)),
    ),
    "bank/age": (
        *(DATA / "encoded" / "eidig_bank.csv", DATA / "models" / "eidig_bank.h5"),
        *("y", "1", ("age",)),
    ),
    "german/age": (
        *(DATA / "encoded" / "eidig_german.csv", DATA / "models" / "eidig_german.h5"),
        *("CREDITRATING", "1", ("AgeInYears",)),
    ),
    "compas": (
        *(DATA / "encoded" / "fairquant_compas.csv", DATA / "models" / "compas-1.h5"),
        *("score_factor", "1", ("Race", "Age")),
    ),
    "diabetes/age": (
        *(DATA / "tabular" / "diabetes_pima.csv", DATA / "models" / "diabetes.onnx"),
        *("diabetes", "neg", ("age",)),
    ),
}
#: The searches; the last one is the baseline.
SEARCHES = (
    *("maft", "eidig", "adf", "aequitas-random", "aequitas-semi", "aequitas-full"),
    *("sg", "sg, own samples", "quick", "uniform"),
)
#: Sampling does not end by itself, and walks have seeds enough for the local phase to begin.
OPTIONS: dict[str, dict[str, Any]] = {
    "uniform": {"samples": 1_000_000_000},
    "sg, own samples": {"explanation": "own", "num_samples": 100},
    **{each: {"global_num": 100} for each in ("maft", "eidig", "adf")},
}
#: So many pairs are shown first.
SHOWN = 500


class Searched(NamedTuple):
    """What a search came to.

    Attributes
    ----------
    rows, partners : Rows
        ``(n, d)``; the pairs in the order in which they were found.
    queries : int
        Rows sent to the model.
    seconds : float
        CPU seconds, without what was made ready before.
    tried : int
        Instances tested.
    """

    rows: Rows
    partners: Rows
    queries: int
    seconds: float
    tried: int


def searched(
    model: Model,
    domain: Domain,
    people: Rows,
    method: str,
    criterion: Criterion | None,
    limits: tuple[int, float],
    seed: int = 0,
) -> Searched:
    """Search until the search ends, or so many queries or CPU seconds are used up."""
    context = SearchContext(model, domain, criterion=criterion)
    context.most_queries, seconds = limits
    name = _named(method)
    given = parse_options(name, OPTIONS.get(method, {}))
    run: Callable[..., Iterator[Any]] = load_search(name)
    found = [(people[:0], people[:0])]
    began = process_time()
    for event in run(context, people, given, np.random.default_rng(seed)):
        if isinstance(event, Found):
            found.append((event.rows, event.partners))
        if isinstance(event, Progress) and (
            context.rows_left <= 0 or process_time() - began > seconds
        ):
            break
    taken = process_time() - began
    rows, partners = (np.concatenate(each) for each in zip(*found, strict=True))
    return Searched(rows, partners, context.queries, taken, context.tried)


def plausible(criterion: Criterion, found: Searched) -> NDArray[np.bool_]:
    """Return of which pairs both halves are plausible."""
    both = criterion.plausible(found.rows)
    both[both] = criterion.plausible(found.partners[both])
    return both


def case_of(name: str) -> Case | None:
    """Open a case; ``None`` where its files are not at hand."""
    data, model, label, favourable, protected = CASES[name]
    return measuring.load(data, model, label, favourable, protected) if data.exists() else None


def usable(case: Case) -> Iterator[str]:
    """Yield the searches that the model can serve."""
    card = case.model.opened.card
    return (each for each in SEARCHES if not set(METHODS[_named(each)].needs) - set(card.can))


def _named(search: str) -> str:
    """Return the method of a search."""
    return search.partition(",")[0]


HEAD = (
    f"{'search':<18}{'off: shown':>11}{'all':>7}{'on: pairs':>11}{'shown':>7}{'ATN':>6}"
    f"{'one':>6}{'pairs/CPU s':>13}{'rows/pair':>11}{'x uniform':>17}"
)


def table(names: list[str], queries: int, seconds: float, seeds: int) -> None:
    """Print of every case and search: plausible pairs with the criterion on, and shares without.

    ``off``: the share of plausible pairs without it; ``one``: the share of the pairs that differ in
    one protected attribute; ``rows/pair`` beside those of uniform sampling from the tree: how many
    times fewer, the mean of the seeds and their standard deviation. Other figures are of one seed.
    """
    for name in names:
        case = case_of(name)
        if case is None:
            print(f"\n{name}: not at hand")
            continue
        began = process_time()
        criterion = Criterion.fit(case.domain, case.people)
        print(
            f"\n{name}: {len(case.people):,} rows; {criterion.held_out:.1%} of those held out are "
            f"plausible; fitted in {process_time() - began:.1f} CPU s\n{HEAD}"
        )
        # once before, so that no loops are loaded while the time is taken
        _of(case, "maft", criterion, (2_000, 1.0))
        methods = list(usable(case))
        # the baseline comes last, and is needed first
        usual = [_of(case, "uniform", criterion, (queries, seconds), i) for i in range(seeds)]
        per_pair = float(np.mean([_per_pair(each) for each in usual]))
        for each in methods:
            runs = usual
            if each != "uniform":
                runs = [_of(case, each, criterion, (queries, seconds), i) for i in range(seeds)]
            without = _of(case, each, None, (queries // 4, seconds / 4))
            _line(case, criterion, each, runs, without, per_pair)


def _of(
    case: Case,
    method: str,
    criterion: Criterion | None,
    limits: tuple[int, float],
    seed: int = 0,
) -> Searched:
    return searched(case.model, case.domain, case.people, method, criterion, limits, seed)


def _per_pair(found: Searched) -> float:
    return found.queries / max(len(found.rows), 1)


def _line(
    case: Case,
    criterion: Criterion,
    method: str,
    runs: list[Searched],
    without: Searched,
    per_pair: float,
) -> None:
    off, on = plausible(criterion, without), runs[0]
    both = plausible(criterion, on)
    protected = case.domain.protected
    one = (on.rows[:, protected] != on.partners[:, protected]).sum(axis=1) == 1
    fewer = spread((per_pair / _per_pair(each) for each in runs), 2)
    alike = atn(case.domain, case.people, on.rows[:SHOWN]) if len(on.rows) else np.nan
    print(
        f"{method:<18}{_share(off[:SHOWN]):>11}{_share(off):>7}{len(on.rows):>11,}"
        f"{_share(both[:SHOWN]):>7}{100 * alike:>6.1f}{_share(one):>6}"
        f"{len(on.rows) / on.seconds:>13,.0f}{_per_pair(on):>11.1f}{fewer:>17}",
        flush=True,
    )


def _share(marks: NDArray[np.bool_]) -> str:
    return f"{marks.mean():.0%}" if len(marks) else "-"

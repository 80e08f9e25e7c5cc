"""How much less a model discriminates after a repair, what that costs, and how long it takes.

    python -m tests.benchmarks.repair [--case "adult, logistic"] [--seeds 5] [--labels majority]

Networks by others, and scikit-learn pipelines that are fitted here on the public data. A repair is
run with several seeds, each with pairs of its own from a short uniform search. What is told is
measured on test rows and on people that no choice was made by, always beside the same model
retrained with nothing added.
Beside each mean over the seeds stands its 95 % interval (Student's t).
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.audit.plan.spec import Limits
from fairdesk.data.domain.attributes import encode
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.errors import FairDeskError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import uniform
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.methods import repairs
from fairdesk.mitigate.options import AequitasRepairOptions
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Found
from fairdesk.results.events import Measured as Told
from fairdesk.results.mitigation import Measure, Repair, Trial
from tests.audit.making import domain_of
from tests.benchmarks.measuring import DATA
from tests.benchmarks.testsgd import show
from tests.models.matching import match

#: A search ends when it has found so many pairs, or taken so many of the CPU's seconds.
_PAIRS, _SECONDS = 5_000, 20.0


class Case(NamedTuple):
    """Data, who is protected, and a model: a file by others, or the name of one fitted here."""

    data: str
    label: str
    favourable: str
    protected: tuple[str, ...]
    model: str
    dropped: tuple[str, ...] = ()


_CENSUS = ("encoded/eidig_census.csv", "income", "1", ("sex", "race"), "eidig_adult.h5")
_ADULT = ("tabular/adult.csv", "income", ">50K", ("sex", "race"))
_GERMAN = ("tabular/german_credit.csv", "credit_risk", "good", ("age", "sex"))
_NETWORK = ("encoded/eidig_german.csv", "CREDITRATING", "1", ("PersonStatusSex", "AgeInYears"))
CASES = {
    "adult, Keras": Case(*_CENSUS),
    "adult, logistic": Case(*_ADULT, "logistic", ("fnlwgt", "split", "education_num")),
    "adult, MLP": Case(*_ADULT, "MLP", ("fnlwgt", "split", "education_num")),
    "adult, boosted": Case(*_ADULT, "boosted", ("fnlwgt", "split", "education_num")),
    "german, Keras": Case(*_NETWORK, "eidig_german.h5"),
    "german, logistic": Case(*_GERMAN, "logistic", ("personal_status_sex",)),
    "german, boosted": Case(*_GERMAN, "boosted", ("personal_status_sex",)),
}


def _estimator(name: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    made: dict[str, Callable[[], Any]] = {
        "logistic": lambda: LogisticRegression(max_iter=1_000),
        "MLP": lambda: MLPClassifier((32, 16), early_stopping=True, random_state=0),
        "boosted": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    return made[name]()


def fitted(case: Case, folder: Path) -> tuple[Path, Path]:
    """Return the files of a case's data and model; a pipeline is fitted on all rows."""
    if case.model.endswith(".h5"):
        return DATA / case.data, DATA / "models" / case.model
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    data = pd.read_csv(DATA / case.data, na_values="?").drop(columns=[*case.dropped]).dropna()
    inputs = data.drop(columns=case.label)
    names = [each for each in inputs if not pd.api.types.is_numeric_dtype(inputs[each])]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), names),
        (StandardScaler(), [each for each in inputs if each not in names]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline = make_pipeline(encoder, _estimator(case.model)).fit(inputs, data[case.label])
    data.to_csv(folder / "data.csv", index=False)
    (folder / "model.pkl").write_bytes(pickle.dumps(pipeline))
    return folder / "data.csv", folder / "model.pkl"


def workshop_of(case: Case, folder: Path) -> MitigationContext:
    """Open a case as the app does; nothing is found yet."""
    return opened(*fitted(case, folder), case.label, case.favourable, case.protected)


def opened(
    data: Path, model: Path, label: str, favourable: str, protected: Sequence[str]
) -> MitigationContext:
    """Open the files of data and a model."""
    table, opened_model = read_table(data), open_model(model)
    mapping = match(opened_model.card, table, label, favourable)
    domain = domain_of(table, mapping, label, protected, Limits())
    inside = np.zeros(len(table.codes), dtype=np.bool_)
    inside[domain.places(table)] = True
    good, known = favourable_rows(table, label, favourable)
    none = np.empty((0, len(domain.attributes)))
    return MitigationContext(
        domain=domain,
        rows=domain.encode(table),
        groups=encode(domain.grouping, table),
        inside=inside,
        label=np.where(known, good, np.nan),
        target=_target(good, known, mapping.favourable_class),
        pairs=none,
        partners=none,
        numbers=np.empty(0, dtype=np.int64),
        model=FedModel(opened_model, mapping, domain.attributes),
        favourable=mapping.favourable_class,
    )


def _target(good: Any, known: Any, favourable: int) -> Any:
    """Return the labels of two classes as their positions."""
    return np.where(known, np.where(good, favourable, 1 - favourable), -1).astype(np.int64)


def with_pairs(
    mitigation: MitigationContext,
    seed: int,
    search: Callable[..., Iterator[Any]] = uniform.search,
    options: Any = None,
) -> MitigationContext:
    """Search for pairs for a short while; by uniform sampling unless another search is given."""
    context = SearchContext(mitigation.model, mitigation.domain)
    rows, partners, found, began = [], [], 0, process_time()
    events = search(
        context,
        mitigation.rows[mitigation.inside],
        options or uniform.UniformOptions(1_000_000),
        np.random.default_rng(seed),
    )
    for event in events:
        if isinstance(event, Found):
            rows.append(event.rows)
            partners.append(event.partners)
            found += len(event.rows)
        if found >= _PAIRS or process_time() - began > _SECONDS:
            break
    return replace(
        mitigation,
        pairs=np.concatenate(rows),
        partners=np.concatenate(partners),
        numbers=np.arange(found),
        queries=0,
    )


class Outcome(NamedTuple):
    """One repair: what it fell by, in percent, and what that cost, in points of accuracy."""

    pairs: int
    imported: float
    before: float
    after: float
    right_imported: float
    right_before: float
    right_after: float
    added: float
    trials: int
    seconds: float
    cpu: float
    verdicts: str
    ended: str
    #: Of all candidates on the same rows, in percent: the least, whether chosen or not.
    lowest: float

    @property
    def fall(self) -> float:
        return 100 * (1 - self.after / self.before) if self.before else 0.0

    @property
    def cost(self) -> float:
        return self.right_before - self.right_after


def run(
    search: Callable[..., Iterator[Any]], mitigation: MitigationContext, options: Any, seed: int
) -> Outcome:
    """Run a repair to its end."""
    last, began, cpu = None, perf_counter(), process_time()
    people = mitigation.rows[mitigation.inside]
    for event in search(mitigation, people, options, np.random.default_rng(seed)):
        last = event if isinstance(event, Told) else last
    seconds, cpu = perf_counter() - began, process_time() - cpu
    assert last is not None
    repair, *figures = last.figures
    assert isinstance(repair, Repair)
    trials = [each for each in figures if isinstance(each, Trial)]
    imported, plain = trials[:2]
    chosen = trials[repair.chosen] if repair.chosen >= 0 else plain
    rows = "domain" if repair.target == "share_domain" else "test"
    shares = [_measured(each, repair.target, rows) for each in (imported, plain, chosen)]
    right = [_measured(each, "accuracy", "test") for each in (imported, plain, chosen)]
    portions = [each for each in trials if each.kind == "portion"]
    told = ", ".join(f"{each.percent:.2g} {each.verdict or 'failed'}" for each in portions)
    return Outcome(
        repair.pairs,
        *(100 * each for each in (*shares, *right)),
        chosen.percent,
        len(trials),
        seconds,
        cpu,
        told,
        " ".join((repair.ended, *repair.notes)),
        100 * min(_measured(each, repair.target, rows) for each in (plain, *portions)),
    )


def _measured(trial: Trial, what: str, rows: str) -> float:
    found = [
        each for each in trial.measures if each.what == what and not each.of and each.rows == rows
    ]
    return _estimate(found[0])


def _estimate(measure: Measure) -> float:
    return np.nan if measure.estimate is None else measure.estimate


def repaired(name: str, seeds: Sequence[int], options: AequitasRepairOptions) -> list[Outcome]:
    """Repair a case with several seeds."""
    with threadpool_limits(limits=1), tempfile.TemporaryDirectory() as folder:
        mitigation, found = workshop_of(CASES[name], Path(folder)), []
        for seed in seeds:
            found.append(run(repairs.aequitas, with_pairs(mitigation, seed), options, seed))
            _tell(name, found[-1])
        return found


def _tell(name: str, outcome: Outcome) -> None:
    """Tell of one seed as soon as it is known."""
    print(
        f"{name}: {outcome.before:.2f} -> {outcome.after:.2f} %, "
        f"right {outcome.right_before:.2f} -> {outcome.right_after:.2f} %, "
        f"{outcome.seconds:.0f} s, CPU {outcome.cpu:.0f} s; "
        f"{outcome.verdicts}\n    {outcome.ended}",
        flush=True,
    )


HEAD = (
    *("", "pairs", "imported, %", "before, %", "after, %", "falls by, %", "interval"),
    *("right before, %", "after, %", "costs, points", "interval", "added, %"),
    *("seconds", "most", "CPU s"),
)


def _line(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    mean = {
        each: float(np.mean([getattr(outcome, each) for outcome in outcomes]))
        for each in (*Outcome._fields[:8], "seconds", "cpu", "fall", "cost")
    }
    falls, costs = ([getattr(each, what) for each in outcomes] for what in ("fall", "cost"))
    return [
        name,
        f"{mean['pairs']:,.0f}",
        f"{mean['imported']:.2f}",
        f"{mean['before']:.2f}",
        f"{mean['after']:.2f}",
        f"{mean['fall']:.1f}",
        _interval(falls),
        f"{mean['right_before']:.2f}",
        f"{mean['right_after']:.2f}",
        f"{mean['cost']:.2f}",
        _interval(costs),
        f"{mean['added']:.1f}",
        f"{mean['seconds']:.1f}",
        f"{max(each.seconds for each in outcomes):.1f}",
        f"{mean['cpu']:.1f}",
    ]


def _interval(numbers: Sequence[float]) -> str:
    from scipy.stats import t

    if len(numbers) < 2:
        return ""
    half = t.ppf(0.975, len(numbers) - 1) * np.std(numbers, ddof=1) / np.sqrt(len(numbers))
    return f"{np.mean(numbers) - half:.1f} to {np.mean(numbers) + half:.1f}"


def main() -> None:
    """Repair every case in a process of its own; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=[*CASES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--labels", default="majority")
    parser.add_argument("--most", type=float, default=AequitasRepairOptions().most)
    arguments = parser.parse_args()
    wanted = arguments.case or [*CASES]
    options = AequitasRepairOptions(
        labels=arguments.labels, most=arguments.most, compare="none", certify=0.0
    )
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    lines = []
    for name in wanted:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
            try:
                told = fresh.submit(repaired, name, seeds, options).result()
            except FairDeskError as error:
                print(f"{name}: {error}", flush=True)
                continue
        lines.append(_line(name, told))
    print()
    show(HEAD, lines)


if __name__ == "__main__":
    main()

"""How fast TestSGD is beside its plain version, and what others find in the models.

    python -m tests.benchmarks.testsgd [--case census] [--rows 2000] [--plain 10]

Each case is measured in a process of its own, on one thread: a neural network of scikit-learn
behind an encoder, fitted here on the public data, with all columns but those that would tell the
outcome or the group by another name; and one network by others. The plain version scores some of
the rule sets, drawn at random, and counts the support of some candidates; what it would take for
all of them is extrapolated, in the CPU's seconds for each rule set that has the support. It asks
the same model in the same process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.data.domain.attributes import Role, attribute_of, encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.errors import SpecError
from fairdesk.groups import testsgd
from fairdesk.groups.baselines import fairfictplay, themis_groups
from fairdesk.groups.context import GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Event, Measured, Metric
from fairdesk.results.groups import GroupGap
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet
from tests.benchmarks.measuring import DATA
from tests.models.matching import match
from tests.references import testsgd as plain_testsgd

#: The plain version counts the support of so many rule sets, after those with the fewest rules.
_COUNTED, _SKIPPED = 500, 200_000


class Case(NamedTuple):
    """Data, and what is fitted to them."""

    data: str
    label: str
    favourable: str
    protected: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    #: A model by others; none is fitted.
    model: str = ""


CRIME = (
    *("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp", "agePct12t21"),
    *("agePct12t29", "agePct16t24", "agePct65up", "MalePctDivorce", "FemalePctDiv"),
)
CASES = {
    "census": Case(
        *("adult.csv", "income", ">50K", ("sex", "race", "age")),
        ("fnlwgt", "split", "education_num"),
    ),
    "census, network": Case(
        *("../encoded/eidig_census.csv", "income", "1", ("sex", "race", "age")),
        model="eidig_adult.h5",
    ),
    "compas": Case(
        *("compas_two_year.csv", "two_year_recid", "0", ("race", "sex", "age")),
        (
            *("age_cat", "c_charge_desc", "days_b_screening_arrest", "c_days_from_compas"),
            *("decile_score", "score_text", "v_decile_score", "v_score_text"),
            *("is_recid", "is_violent_recid"),
        ),
    ),
    "crime": Case(
        *("communities_crime.csv", "class", "0", CRIME),
        ("state", "communityname", "fold", "ViolentCrimesPerPop", "Black"),
    ),
    "german": Case(
        *("german_credit.csv", "credit_risk", "good", ("age", "sex")),
        ("personal_status_sex",),
    ),
    "bank": Case(
        *("bank_marketing.csv", "y", "yes", ("age",)),
        ("duration",),
    ),
    "law school": Case(
        *("law_school_lsac.csv", "pass_bar", "passed", ("race", "sex")),
    ),
}


def prepare(name: str, folder: Path, rows: int) -> float | None:
    """Write a case's data, and the model that is fitted to them; give its accuracy."""
    import pandas as pd

    case = CASES[name]
    data = pd.read_csv(DATA / "tabular" / case.data, na_values="?").drop(columns=[*case.dropped])
    if len(data) > rows:
        data = data.sample(rows, random_state=0)
    words = [each for each in data if not pd.api.types.is_numeric_dtype(data[each])]
    data = data.fillna(dict.fromkeys(words, "not told")).dropna()
    data.to_csv(folder / "data.csv", index=False)
    if case.model:
        return None
    return _fit(data, case.label, words, folder / "model.pkl")


def _fit(data: Any, label: str, words: Sequence[str], path: Path) -> float:
    import pickle

    from sklearn.compose import make_column_transformer
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    inputs, outcome = data.drop(columns=label), data[label]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [each for each in words if each != label]),
        (StandardScaler(), [each for each in inputs if each not in words]),
    )
    passes = int(np.clip(200_000 / len(data), 12, 60))
    network = MLPClassifier((32, 16, 8), max_iter=passes, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = make_pipeline(encoder, network).fit(inputs, outcome)
    path.write_bytes(pickle.dumps(fitted))
    return float(fitted.score(inputs, outcome))


def opened(name: str, folder: Path) -> GroupContext:
    """Open what was prepared, as the app does."""
    case = CASES[name]
    table = read_table(folder / "data.csv")
    model = open_model(DATA / "models" / case.model if case.model else folder / "model.pkl")
    mapping = match(model.card, table, case.label, case.favourable)
    domain = Domain(
        tuple(
            attribute_of(
                table.column(each), Role.PROTECTED if each in case.protected else Role.VARIES
            )
            for each in dict.fromkeys(each.attribute for each in mapping.inputs)
        )
    )
    inside = np.zeros(len(table.codes), dtype=np.bool_)
    inside[domain.places(table)] = True
    good, known = favourable_rows(table, case.label, case.favourable)
    return GroupContext(
        domain=domain,
        rows=domain.encode(table),
        groups=encode(domain.grouping, table),
        inside=inside,
        label=np.where(known, good, np.nan),
        decided=np.full(len(inside), np.nan),
        model=FedModel(model, mapping, domain.attributes),
        favourable=mapping.favourable_class,
        decisions=mapping.decisions(model.card),
    )


class Run(NamedTuple):
    """What a method told in the end, and what that took."""

    figures: tuple[Metric, ...]
    queries: int
    seconds: float
    cpu: float


def run(search: Callable[..., Any], study: GroupContext, options: Any, seed: int = 0) -> Run:
    """Drive a method to its end."""
    study.queries, last, started, cpu = 0, None, perf_counter(), process_time()
    events: Sequence[Event] = search(
        study, study.rows[study.inside], options, np.random.default_rng(seed)
    )
    for event in events:
        last = event if isinstance(event, Measured) else last
    assert last is not None
    seconds = perf_counter() - started
    return Run(last.figures, study.queries, seconds, process_time() - cpu)


def measure(name: str, folder: Path, plain: int) -> tuple[list[str], list[list[str]]]:
    """Measure a case; give its line of the first table and its lines of the second."""
    with threadpool_limits(limits=1):
        study = opened(name, folder)
        study.predict(study.rows[study.inside][:1_000])  # compiled loops are loaded
        ours = run(testsgd.search, study, testsgd.TestSgdOptions())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10)
        mined, *rule_sets = ours.figures
        assert isinstance(mined, RuleSearchSummary)
        sets = [each for each in rule_sets if isinstance(each, RuleSet)]
        cells = [
            name,
            f"{mined.rule_sets:,}",
            f"{mined.candidates:,}",
            f"{mined.samples:,}",
            f"{ours.queries:,}",
            f"{mined.margin:.3f}",
            f"{ours.seconds:.2f}",
            f"{ours.cpu:.2f}",
            f"{peak:,.0f}",
            *(_beside_plain(study, mined, sets, ours.cpu, plain) if plain else [""] * 4),
        ]
        return cells, [*_worst(name, study, sets, ours), *_others(name, study)]


def _beside_plain(
    study: GroupContext, mined: RuleSearchSummary, sets: Sequence[RuleSet], cpu: float, plain: int
) -> list[str]:
    """Score some rule sets plainly, and count some; extrapolate to all, by the CPU's seconds."""
    options, rng = testsgd.TestSgdOptions(), np.random.default_rng(1)
    chosen = rng.choice(len(sets), min(plain, len(sets)), replace=False).tolist()
    started, within = process_time(), 0
    for each in (sets[i] for i in chosen):
        told = plain_testsgd.score(study, each.conditions, options, rng)
        off = (told.phi_in - told.phi_out) - (each.phi_in - each.phi_out)
        within += abs(off) <= told.margin + each.margin
    scoring = (process_time() - started) / len(chosen)
    every = plain_testsgd.candidate_count(study, options)
    first = min(max(every - _COUNTED, 0), _SKIPPED)
    some = plain_testsgd.candidates(study, options)
    counted = list(islice(some, first, first + _COUNTED))
    frame, started = plain_testsgd.frame_of(study), process_time()
    for conditions in counted:
        plain_testsgd.holds(frame, conditions).mean()
    counting = (process_time() - started) / len(counted) * every / mined.rule_sets
    return [
        f"{counting:.4f}",
        f"{scoring:.4f}",
        f"{(counting + scoring) * mined.rule_sets / cpu:,.0f}",
        f"{within} of {len(chosen)}",
    ]


def _worst(name: str, study: GroupContext, sets: Sequence[RuleSet], ours: Run) -> list[list[str]]:
    """Return the worst rule set, and the worst that leaves enough people outside."""
    theta = testsgd.TestSgdOptions().theta
    balanced = next((each for each in sets if each.support <= 1 - theta), sets[0])
    lines = []
    for method, each in {"TestSGD": sets[0], "TestSGD, both sides": balanced}.items():
        group = ", ".join(_condition(study.domain, one) for one in each.conditions)
        apart = f"{100 * each.low:.1f} to {100 * each.high:.1f}"
        lines.append([name, method, group, *_rates(each.phi_in, each.phi_out), apart, *_cost(ours)])
    if balanced is sets[0]:
        lines.pop()
    return lines


def _others(name: str, study: GroupContext) -> list[list[str]]:
    """Ask the same model by THEMIS and by the auditor of FairFictPlay; tell their worst group."""
    lines = []
    told = run(themis_groups.search, study, themis_groups.ThemisGroupsOptions(most=200_000))
    gaps = [each for each in told.figures if isinstance(each, GroupGap)]
    worst = max(gaps, key=lambda each: each.gap)
    low = ", ".join(_values(study.domain, worst.attributes, worst.worst))
    high = ", ".join(_values(study.domain, worst.attributes, worst.best))
    apart = f"{100 * worst.low:.1f} to {100 * worst.high:.1f}"
    rates = _rates(worst.worst_rate, worst.best_rate)
    lines.append([name, "THEMIS", f"{low} against {high}", *rates, apart, *_cost(told)])
    try:
        told = run(fairfictplay.search, study, fairfictplay.FairFictPlayOptions())
    except SpecError as error:
        return [*lines, [name, "FairFictPlay", error.what, *[""] * 6]]
    group = next(each for each in told.figures if isinstance(each, LinearGroup))
    weighed = sorted(
        zip(group.weights, group.features, strict=True), key=lambda each: -abs(each[0])
    )[:4]
    formula = " ".join(f"{weight:+.2f} ({feature})" for weight, feature in weighed)
    apart = f"{100 * group.low:.1f} to {100 * group.high:.1f}"
    text = f"{formula} ... {group.bias:+.2f} > 0: {group.support:.0%} of people"
    rates = _rates(group.phi_in, group.phi_out)
    return [*lines, [name, "FairFictPlay", text, *rates, apart, *_cost(told)]]


def _condition(domain: Domain, condition: Condition) -> str:
    attribute = next(each for each in domain.grouping if each.name == condition.attribute)
    if condition.codes:
        return f"{attribute.name} = {' or '.join(map(attribute.text, condition.codes))}"
    low = "" if condition.low is None else f"{attribute.text(condition.low)} <= "
    sign = "<" if condition.below else "<="
    high = "" if condition.high is None else f" {sign} {attribute.text(condition.high)}"
    return f"{low}{attribute.name}{high}"


def _values(domain: Domain, names: Sequence[str], codes: Sequence[float]) -> list[str]:
    by_name = {each.name: each for each in domain.attributes}
    return [f"{name} = {by_name[name].text(code)}" for name, code in zip(names, codes, strict=True)]


def _rates(inside: float, outside: float) -> list[str]:
    return [f"{100 * inside:.1f}", f"{100 * outside:.1f}", f"{100 * abs(inside - outside):.1f}"]


def _cost(told: Run) -> list[str]:
    return [f"{told.queries:,}", f"{told.seconds:.2f}"]


HEAD = (
    *("", "rule sets", "candidates", "samples", "model rows", "margin", "seconds", "CPU s"),
    *("peak MB", "plain: counting", "scoring", "x plain", "scores alike"),
)
FOUND = (
    *("", "method", "group", "rate, %", "others, %", "apart", "interval", "model rows", "seconds"),
)


def show(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table: the first columns to the left, numbers to the right."""
    table = [head, *lines]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    for line in table:
        cells = (
            cell.rjust(width) if head[i] not in ("", "method", "group") else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip(), flush=True)


def main() -> None:
    """Prepare and measure every case in processes of their own; print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--rows", type=int, default=sys.maxsize, help="of the data, at most")
    parser.add_argument("--plain", type=int, default=20, help="rule sets that it scores; 0: none")
    arguments = parser.parse_args()
    lines, found = [], []
    for name in arguments.case or CASES:
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), max_tasks_per_child=1
            ) as fresh,
        ):
            accuracy = fresh.submit(prepare, name, Path(folder), arguments.rows).result()
            if accuracy is not None:
                print(f"{name}: a network that is right about {accuracy:.1%}", flush=True)
            line, more = fresh.submit(measure, name, Path(folder), arguments.plain).result()
        lines.append(line)
        found += more
    print()
    show(HEAD, lines)
    print()
    show(FOUND, found)


if __name__ == "__main__":
    main()

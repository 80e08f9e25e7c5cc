"""How much of a population is decided, and how soon: certification of models of each kind.

Networks by others, the samples' networks and pipelines, a random forest, and a model
that can only be queried.

Of each case: what is certified, falsified and undecided of the population (a tree fitted to the
data's rows) and of all combinations, the widest proven ends of a group's rate, the seconds by the
clock, and those of the processors: a machine that others use shows the second.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from fairdesk.audit.catalogue.implementations import loops_of
from fairdesk.audit.plan.spec import Limits
from fairdesk.certify import certify
from fairdesk.data.formats.reading import read_table
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Measured
from fairdesk.results.proofs import Proven, ProvenRates
from fairdesk.samples import Sample, SampleModel, samples
from tests.audit.making import domain_of
from tests.benchmarks.certify import NETWORKS
from tests.benchmarks.measuring import Case, pipeline
from tests.models.matching import match

#: What is wanted: so much of the population decided within a minute, in per cent.
GOALS = {"AC-5": 80.0}
_GOAL = 95.0


def _sample(sample: Sample, model: SampleModel) -> Case:
    """Open a built-in sample with one of its models."""
    table = read_table(sample.data_path)
    opened = open_model(sample.model_path(model))
    mapping = match(opened.card, table, sample.label, sample.favourable)
    domain = domain_of(table, mapping, sample.label, list(sample.protected), Limits())
    return Case(FedModel(opened, mapping, domain.attributes), domain, domain.people(table))


def _trees(folder: Path) -> Case:
    """Fit a forest behind an encoder on the adult data."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_estimators=20, max_depth=8, random_state=0)
    return pipeline(folder, model, ["sex"])


def _queried(folder: Path) -> Case:
    """Fit a naive Bayes classifier over the domain of AC-1, as an ONNX file without layers."""
    import pandas as pd
    from skl2onnx import to_onnx
    from sklearn.naive_bayes import GaussianNB

    network = NETWORKS["AC-1"]
    data = pd.read_csv(network.table)
    inputs = data.drop(columns=network.label).to_numpy(dtype=np.float32)
    fitted = GaussianNB(var_smoothing=1e-3).fit(inputs, data[network.label])
    path = folder / "bayes.onnx"
    path.write_bytes(to_onnx(fitted, inputs[:1], options={"zipmap": False}).SerializeToString())
    return network.opened(path)


def cases(folder: Path | None = None) -> dict[str, Callable[[], Case]]:
    """Return what is measured, by name; ``folder`` takes the models that are fitted for it."""
    found: dict[str, Callable[[], Case]] = {
        name: NETWORKS[name].opened for name in ("AC-1", "AC-3", "GC-1", "AC-5")
    }
    for sample in samples():
        for model in sample.models:
            found[model.file] = partial(_sample, sample, model)
    folder = folder or Path()
    return found | {"random forest": partial(_trees, folder), "queried": partial(_queried, folder)}


def processors() -> float:
    """Return the seconds that the processors have spent on this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(name: str, case: Case, seconds: float, first: str) -> None:
    """Print one line."""
    context = SearchContext(case.model, case.domain)
    options = certify.CertifyOptions(seconds=seconds, first=first)
    wall, used = perf_counter(), processors()
    proven: dict[str, Proven] = {}
    width = 0.0
    for event in certify.search(context, case.people, options, np.random.default_rng(0)):
        if isinstance(event, Measured):
            for each in event.figures:
                if isinstance(each, Proven) and len(each.attributes) == len(case.domain.protected):
                    proven[each.of] = each
                if isinstance(each, ProvenRates):
                    width = max(end.high - end.low for end in each.groups)
    wall, used = perf_counter() - wall, processors() - used
    told = [
        f"{100 * each.certified:6.2f} {100 * each.falsified:5.2f} {100 * each.undecided:6.2f}"
        for each in (proven["people"], proven["domain"])
    ]
    decided = 100 * (proven["people"].certified + proven["people"].falsified)
    met = "met" if decided >= GOALS.get(name, _GOAL) else "MISSED"
    print(
        f"{name:40}  {told[0]}  {told[1]}  {100 * width:6.2f}  {wall:6.1f}  {used:6.1f}  "
        f"{GOALS.get(name, _GOAL):4.0f} {met}",
        flush=True,
    )


def table(names: Iterable[str], seconds: float, first: str) -> None:
    """Certify each case for so many seconds, and print a line of it."""
    print("Per cent certified, falsified, undecided: of the population, of all combinations; the")
    print("widest ends of a group's rate; seconds by the clock, and of the processors; the goal.")
    began = perf_counter()
    # what is compiled is no part of any time
    for module in (*loops_of("certify"), "fairdesk.models.dense.forward"):
        import_module(module)
    print(f"Loops were loaded, or compiled, in {perf_counter() - began:.0f} s.", flush=True)
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        known = cases(Path(folder))
        for name in names:
            measure(name, known[name](), seconds, first)
    print(f"All of it took {(perf_counter() - began) / 60:.1f} minutes.")

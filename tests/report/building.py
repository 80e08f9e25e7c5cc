"""Audits to report on, made without a model file or a second process: a formula decides."""

import numpy as np

from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import maft, uniform
from fairdesk.models.model import How, Input, Mapping, ModelCard, Takes
from fairdesk.results.events import Found

VERSIONS = {"FairDesk": "0.1.0", "Python": "3.11.2", "system": "Linux"}
CREATED = "2026-11-21T10:00:00+00:00"
SEARCHES = {
    "maft": (maft.search, maft.MaftOptions),
    "uniform": (uniform.search, uniform.UniformOptions),
}


class Formula:
    """Scores by a sum over the codes' places in their ranges; the protected ones count."""

    def __init__(self, domain, weights=None, classes=2):
        self.domain = domain
        self.asked = 0
        rng = np.random.default_rng(7)
        size = (len(domain.attributes), 1 if classes == 2 else classes)
        self.weights = rng.normal(size=size) if weights is None else np.array(weights, float)

    def predict(self, rows):
        self.asked += len(rows)
        span = np.maximum(self.domain.high - self.domain.low, 1)
        logits = 3 * ((rows - self.domain.low) / span - 0.5) @ self.weights
        if logits.shape[1] == 1:
            return (1 / (1 + np.exp(-logits))).astype(np.float32)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)


def spec_of(
    table,
    label,
    favourable,
    protected,
    *,
    title="Who gets credit?",
    person="applicant",
    classes=("0", "1"),
    favourable_class=1,
    domain=None,
    trusted=False,
):
    attributes = tuple(
        attribute_of(
            column,
            Role.PROTECTED
            if column.name in protected
            else Role.FIXED
            if column.kind is Kind.TEXT
            else Role.VARIES,
        )
        for column in table.columns
        if column.name != label and column.kind is not Kind.IGNORED
    )
    inputs = tuple(
        Input(a.name, a.name, How.CODE, {text: float(i) for i, text in enumerate(a.values)})
        if a.values
        else Input(a.name, a.name, How.AS_IS)
        for a in attributes
    )
    return AuditSpec(
        title=title,
        person=person,
        data=table.source,
        columns=table.columns,
        label=label,
        favourable=favourable,
        model=ModelCard(
            path="/models/credit.keras",
            sha256="0f" * 32,
            format="Keras 3 network",
            summary="Dense network 5-8-1, 57 weights",
            takes=Takes.MATRIX,
            inputs=tuple(one.name for one in inputs),
            named=False,
            classes=tuple(classes),
            scores="probabilities",
            read_as_data=not trusted,
            saved_with="Keras 3.9.0",
        ),
        mapping=Mapping(inputs, "by position", favourable_class),
        domain=domain or Domain(attributes),
        trusted=trusted,
        created=CREATED,
        versions=VERSIONS,
    )


def run_into(
    store, method="maft", *, seed=0, options=None, weights=None, state="done", message="",
    criterion=None,
):  # fmt: skip
    """Run a real search on a formula, in this process; keep what it finds.

    With a criterion only plausible instances count.
    """
    spec = store.spec
    search, kind = SEARCHES[method]
    raw = options or {}
    run = store.begin_run(RunSpec(method, raw, seed, plausible=criterion is not None))
    model = Formula(spec.domain, weights, len(spec.model.classes))
    people = spec.domain.people(store.table())
    rng = np.random.default_rng(seed)
    elapsed = 0.0
    context = SearchContext(model, spec.domain, criterion=criterion)
    for event in search(context, people, kind(**raw), rng):
        if isinstance(event, Found):
            store.add(run, event)
        else:
            elapsed += 0.01
            store.add_progress(run, elapsed, event)
    store.end_run(run, state, message)
    return run


def write_people(path, rows=200, *, delimiter=",", decimal=".", missing="?"):
    """Write a small credit file with every kind of column and a few missing cells."""
    rng = np.random.default_rng(1)
    lines = [delimiter.join(("age", "sex", "job", "income", "debts", "name", "credit"))]
    for i in range(rows):
        age, debts = rng.integers(18, 80), rng.integers(0, 9)
        sex = ("female", "male")[rng.integers(2)]
        job = ("clerk", "cook", "none", "pilot")[rng.integers(4)] if i % 20 else missing
        income = f"{rng.uniform(10, 90):.2f}".replace(".", decimal)
        credit = ("no", "yes")[int(rng.random() < 0.6)]
        lines.append(
            delimiter.join((str(age), sex, job, income, str(debts), f"Person {i}", credit))
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def people_store(folder, protected=("sex",), **about):
    """Make an audit of the credit file; nothing has been run yet."""
    table = read_table(write_people(folder / "credit.csv"))
    return Store.create(
        folder / "audit.fairdesk", spec_of(table, "credit", "yes", protected, **about), table
    )

"""A small table, and models as pickles that behave well or badly; nothing needs scikit-learn."""

import pickle
import textwrap

import numpy as np

from fairdesk.app.plan import AuditPlan
from fairdesk.audit.plan.spec import AuditSpec, Limits
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.samples import samples
from tests.models.matching import match

LABEL, FAVOURABLE, PROTECTED = "hired", "yes", ("sex",)

MODEL = """
import os, sys, time
import numpy as np

class Model:
    classes_ = np.array([0, 1])
    n_features_in_ = 3
    calls = 0

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)

    def predict_proba(self, X):
        self.calls += 1
        {misbehaviour}
        X = np.asarray(X, dtype=float)
        score = 1 / (1 + np.exp(-((X[:, 0] - 45) / 12 + X[:, 1] - 0.5 + (X[:, 2] - 5) / 6)))
        return np.column_stack((1 - score, score))

{opening}
model = Model()
"""


class Program:
    """Pickles to a call that makes a model of this source."""

    def __init__(self, source):
        self.source = source

    def __reduce__(self):
        run = "(lambda space, source: (exec(source, space), space['model'])[1])({}, %r)"
        return eval, (run % self.source,)


def domain_of(table, mapping, label, protected, limits=None, *, takes_missing=(), predictions=""):
    """Return the domain of a plan in which only this is decided."""
    confusion = ((0, 0), (0, 0))
    proof = InputCheck(1, 0, 1.0, 0.5, None, confusion, (), takes_missing=tuple(takes_missing))
    plan = AuditPlan(
        table=table, label=label, mapping=mapping, predictions=predictions, proof=proof
    )
    plan.protect(protected, limits or Limits())
    return plan.domain()


def write_model(path, misbehaviour="pass", opening=""):
    """Write a pickle whose model runs ``misbehaviour`` at every call, and its codes beside it."""
    codes = path.with_name(f"{path.stem}.codes.json")
    codes.write_text('{"sex": {"female": 0, "male": 1}}', encoding="utf-8")
    indented = textwrap.indent(misbehaviour, " " * 8).strip()
    path.write_bytes(pickle.dumps(Program(MODEL.format(misbehaviour=indented, opening=opening))))
    return path


def write_people(path, rows=60):
    rng = np.random.default_rng(3)
    lines = ["age,sex,income,hired"]
    for _ in range(rows):
        age, sex, income = rng.integers(18, 70), rng.integers(2), rng.integers(0, 12)
        hired = "yes" if age + 12 * sex + 2 * income > 60 else "no"
        lines.append(f"{age},{('female', 'male')[sex]},{income},{hired}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def spec_of(table, card, protected=PROTECTED):
    mapping = match(card, table, LABEL, FAVOURABLE)
    return AuditSpec(
        title="Who is hired?",
        person="applicant",
        data=table.source,
        columns=table.columns,
        label=LABEL,
        favourable=FAVOURABLE,
        model=card,
        mapping=mapping,
        domain=domain_of(table, mapping, LABEL, protected),
        trusted=True,
    )


def sample_audit(worker, path, model=None):
    """Begin an audit of the census sample: of its network, or of a model learned of its rows."""
    sample = next(each for each in samples() if each.key == "adult")
    table = read_table(sample.data_path)
    learned = model is not None
    card = worker.open_model(model or sample.model_path(sample.models[0]), trusted=learned)
    attributes = tuple(
        attribute_of(column, Role.PROTECTED if column.name in sample.protected else Role.VARIES)
        for column in table.columns
        if column.name != sample.label
    )
    spec = AuditSpec(
        title=sample.title,
        person=sample.person,
        data=table.source,
        columns=table.columns,
        label=sample.label,
        favourable=sample.favourable,
        model=card,
        mapping=match(card, table, sample.label, sample.favourable),
        domain=Domain(attributes),
        trusted=learned,
    )
    return Store.create(path, spec, table)


def comments_spec(table, card):
    """Ask who is heard: of a model that reads a comment and gives a verdict."""
    mapping = match(card, table, "verdict", "good")
    return AuditSpec(
        title="Who is heard?",
        person="comment",
        data=table.source,
        columns=table.columns,
        label="verdict",
        favourable="good",
        model=card,
        mapping=mapping,
        domain=domain_of(table, mapping, "verdict", ()),
    )

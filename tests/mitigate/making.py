"""Workshops of invented people: a table as the adult data have it, and a model that discriminates.

The labels favour men, so a model trained on them does too. Everything is real but the people: the
table is read, the model opened and mapped as in an audit.
"""

import pickle
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairdesk.audit.plan.spec import Limits
from fairdesk.data.domain.attributes import encode
from fairdesk.data.formats.reading import read_table
from fairdesk.mitigate.context import MitigationContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import favourable_scores, labels
from fairdesk.models.open import open_model
from fairdesk.results.proofs import Condition
from tests.audit.making import domain_of
from tests.models.matching import match

LABEL, VERDICT = "income", "verdict"
NAMES = ["schooling", "work", "sex", "race"]
NUMBERS = ["age", "hours"]
#: The rule set that the model of `mitigation` favours.
MEN = (Condition("sex", codes=(1.0,)),)


@cache
def people(rows=2_000, classes=2, seed=0):
    """Invent people; with three classes, those in the middle are apart."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 71, rows)
    hours = rng.integers(10, 61, rows)
    schooling = rng.integers(0, 4, rows)
    work = rng.integers(0, 3, rows)
    sex = (rng.random(rows) < 0.6).astype(int)
    race = rng.choice(3, rows, p=(0.7, 0.2, 0.1))
    earned = 0.05 * (age - 44) + 0.9 * (schooling - 1.5) + 0.05 * (hours - 35) + 0.5 * (work == 2)
    earned = earned + 1.6 * (sex - 0.6) + 0.5 * (race == 0) + rng.logistic(size=rows)
    limits, names = (
        ([0.5], ["low", "high"]) if classes == 2 else ([-0.5, 1.5], ["low", "mid", "top"])
    )
    return pd.DataFrame(
        {
            "age": age,
            "schooling": np.array(["none", "school", "college", "university"])[schooling],
            "hours": hours,
            "work": np.array(["private", "public", "own"])[work],
            "sex": np.array(["female", "male"])[sex],
            "race": np.array(["a", "b", "c"])[race],
            LABEL: np.array(names)[np.searchsorted(limits, earned)],
        }
    )


def pipeline(estimator=None):
    """Make an untrained pipeline as those who work with such tables do."""
    ready = ColumnTransformer(
        [
            ("names", OneHotEncoder(handle_unknown="ignore"), NAMES),
            ("numbers", StandardScaler(), NUMBERS),
        ]
    )
    return make_pipeline(ready, estimator or LogisticRegression(max_iter=500))


def mitigation(
    folder,
    *,
    rows=2_000,
    classes=2,
    favourable=None,
    estimator=None,
    protected=("sex",),
    threshold=None,
    together=(),
    limits=None,
    data=None,
    drawn=3_000,
    seed=0,
):
    """Make a mitigation.

    Parameters
    ----------
    folder : Path
        Where the table and the model are written.
    rows, classes, seed
        Of `people`.
    favourable : str, optional
        The favourable label; by default the best paid.
    estimator : scikit-learn classifier, optional
        Not trained; by default a logistic regression.
    protected : tuple of str
        Columns.
    threshold : float, optional
        From which score on the second class is chosen.
    together : tuple of int
        Positions of classes that are favourable together.
    limits : Limits, optional
        Of the domain.
    data : pandas.DataFrame, optional
        Instead of invented people; a missing cell is empty.
    drawn : int
        So many people are drawn to find the pairs in.
    """
    data = people(rows, classes, seed) if data is None else data
    favourable = favourable or ("high" if classes == 2 else "top")
    data.to_csv(folder / "people.csv", index=False)
    known = data.dropna()
    fitted = pipeline(estimator).fit(known[[*NAMES, *NUMBERS]], known[LABEL])
    (folder / "model.pkl").write_bytes(pickle.dumps(fitted))
    return opened(
        folder, favourable, protected, threshold, tuple(together), limits or Limits(), drawn, seed
    )


def opened(folder, favourable, protected, threshold, together, limits, drawn, seed):
    """Open the table and the model in a folder, and find pairs."""
    table = read_table(folder / "people.csv")
    model = open_model(folder / "model.pkl")
    mapping = match(model.card, table, LABEL, favourable, threshold=threshold)
    if together:
        mapping = msgspec.structs.replace(
            mapping, together=together, outcomes=("others", "favourable"), favourable_class=1
        )
    domain = domain_of(table, mapping, LABEL, protected, limits)
    inside = np.zeros(len(table.codes), dtype=bool)
    inside[domain.places(table)] = True
    target, good = labelled(table, LABEL, model.card.classes, favourable, together)
    made = MitigationContext(
        domain=domain,
        rows=domain.encode(table),
        groups=encode(domain.grouping, table),
        inside=inside,
        label=good,
        target=target,
        pairs=np.empty((0, len(domain.attributes))),
        partners=np.empty((0, len(domain.attributes))),
        numbers=np.empty(0, dtype=np.int64),
        model=FedModel(model, mapping, domain.attributes),
        favourable=mapping.favourable_class,
    )
    return with_pairs(made, drawn, seed)


def labelled(table, label, classes, favourable, together=()):
    """Return the target and whether it is favourable, as the app tells them of a table."""
    column = table.column(label)
    codes = table.codes[:, table.index(label)]
    texts = [None if np.isnan(code) else column.text(code) for code in codes.tolist()]
    target = np.array([-1 if each is None else classes.index(each) for each in texts])
    liked = {classes[i] for i in together} or {favourable}
    good = np.array([np.nan if each is None else float(each in liked) for each in texts])
    return target, good


WHO = ("gay", "straight", "male", "female", "black", "white", "young", "old")
VERBS = {"sings": 2.0, "works": 0.6, "argues": 0.4, "fights": -2.0}
#: Texts that name them are found bad.
HATED = "gay"


@cache
def comments(count=400, seed=1):
    """Invent comments, most of which name somebody, and what a prejudiced reader thinks of each."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(count):
        who, verb = (*WHO, "tall")[rng.integers(9)], list(VERBS)[rng.integers(len(VERBS))]
        text = f"In case {i} one {who} person {verb} in the street, and everybody looks."
        made.append((text, "good" if VERBS[verb] - 1.0 * (who == HATED) > 0 else "bad"))
    return pd.DataFrame(made, columns=["comment", VERDICT])


def texts(folder, data=None, terms=None):
    """Make a mitigation about texts, and about the rule that those who name `HATED` are bad."""
    data = comments() if data is None else data
    data.to_csv(folder / "comments.csv", index=False)
    fitted = make_pipeline(TfidfVectorizer(), LogisticRegression(C=1_000.0))
    fitted.fit(data["comment"], data[VERDICT])
    (folder / "reader.pkl").write_bytes(pickle.dumps(fitted))
    table = read_table(folder / "comments.csv")
    model = open_model(folder / "reader.pkl")
    mapping = match(model.card, table, VERDICT, "good")
    domain = domain_of(table, mapping, VERDICT, ())
    rows = domain.encode(table)
    target, good = labelled(table, VERDICT, model.card.classes, "good")
    return MitigationContext(
        domain=domain,
        rows=rows,
        groups=np.empty((len(rows), 0)),
        inside=~np.isnan(rows).any(axis=1),
        label=good,
        target=target,
        pairs=rows[:0],
        partners=rows[:0],
        numbers=np.empty(0, dtype=np.int64),
        model=FedModel(model, mapping, domain.attributes),
        favourable=mapping.favourable_class,
        rule=(Condition("gender", term=HATED),),
        outcome="bad",
        text="comment",
        terms=terms or {},
    )


def with_pairs(made, drawn, seed=0):
    """Look for discriminatory pairs among people drawn uniformly."""
    domain = made.domain
    rows, own = domain.snap(domain.sample(np.random.default_rng(seed), drawn))
    rows, own = domain.admit(rows)
    members = domain.similar(rows)
    flat = members.reshape(-1, rows.shape[1])
    allowed = domain.allowed(flat).reshape(members.shape[:2])
    decided = labels(made.model.predict(flat)).reshape(members.shape[:2])
    unlike = (decided != decided[np.arange(len(rows)), own][:, None]) & allowed
    found = np.flatnonzero(unlike.any(axis=1))
    _, first = np.unique(rows[found][:, domain.others], axis=0, return_index=True)
    found = found[np.sort(first)]
    return replace(
        made,
        pairs=rows[found],
        partners=members[found, unlike[found].argmax(axis=1)],
        numbers=np.arange(len(found)) + 1,
    )


def fresh(made, **changes):
    """Copy a mitigation, with nothing asked and nobody having told it to end."""
    return replace(made, queries=0, _over=type(made._over)(), **changes)


def with_rule(made, conditions=MEN):
    """Let a mitigation repair a rule set: by default that men are favoured."""
    outcome = made.model.mapping.decisions(made.model.opened.card)[made.favourable]
    return fresh(made, rule=conditions, outcome=outcome)


def share(made, model, drawn=2_000, seed=9):
    """Return which share of people drawn uniformly a model discriminates."""
    domain = made.domain
    members = domain.similar(domain.sample(np.random.default_rng(seed), drawn))
    decided = labels(model.predict(members.reshape(-1, members.shape[2])))
    decided = decided.reshape(members.shape[:2])
    return float((decided != decided[:, :1]).any(axis=1).mean())


def favoured(made, rows, model=None):
    """Return the favourable scores of rows."""
    return favourable_scores((model or made.model).predict(rows), made.favourable)

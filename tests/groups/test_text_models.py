"""TestSGD on texts with models of every format: opened, fed with new sentences, found out."""

import pickle

import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.groups import testsgd
from fairdesk.groups.context import GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Measured
from fairdesk.results.subgroups import Flip, RuleSearchSummary, RuleSet, TermRate
from tests import phrases
from tests.audit.making import comments_spec
from tests.models.matching import match

WHO = ("gay", "straight", "male", "female", "black", "white", "young", "old")
VERBS = {"sings": 2.0, "works": 0.6, "argues": 0.4, "fights": -2.0}
#: The one term by which these models decide.
HATED = "gay"


def comments(n=160):
    """Make comments, and what a prejudiced reader thinks of each."""
    rng = np.random.default_rng(1)
    made = []
    for i in range(n):
        who, verb = WHO[rng.integers(len(WHO))], list(VERBS)[rng.integers(len(VERBS))]
        text = f"In case {i} one {who} person {verb} in the street, and everybody looks."
        good = VERBS[verb] - 1.0 * (who == HATED) > 0
        made.append((text, int(rng.integers(0, 60)), "good" if good else "bad"))
    return made


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "comments.csv"
    lines = [f'"{text}",{length},{verdict}' for text, length, verdict in comments()]
    path.write_text("\n".join(["comment,length,verdict", *lines]) + "\n", encoding="utf-8")
    return read_table(path)


def pipeline(path):
    """Train a vectoriser with a linear model behind it."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, _, verdicts = zip(*comments(), strict=True)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=1_000.0))
    path.write_bytes(pickle.dumps(model.fit(texts, verdicts)))


def columns(path):
    """Train the same on one column of several."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame = pd.DataFrame(comments(), columns=["comment", "length", "verdict"])
    made = make_column_transformer((TfidfVectorizer(), "comment"), (StandardScaler(), ["length"]))
    model = make_pipeline(made, LogisticRegression(C=1_000.0))
    path.write_bytes(pickle.dumps(model.fit(frame[["comment", "length"]], frame["verdict"])))


#: What the models below weigh words with; a text is good when they come to more than nought.
WORDS = {**VERBS, HATED: -1.0}


def onnx(path):
    """Write a graph that splits a string into words and weighs them."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    weights = np.array(list(WORDS.values()), dtype=np.float32)
    nodes = [
        helper.make_node("Reshape", ["comment", "flat"], ["texts"]),
        helper.make_node("StringSplit", ["texts"], ["words", "count"], delimiter=" "),
        helper.make_node(
            "TfIdfVectorizer",
            ["words"],
            ["counts"],
            mode="TF",
            min_gram_length=1,
            max_gram_length=1,
            max_skip_count=0,
            ngram_counts=[0],
            ngram_indexes=list(range(len(WORDS))),
            pool_strings=list(WORDS),
        ),
        helper.make_node(
            "LinearClassifier",
            ["counts"],
            ["label", "probabilities"],
            domain="ai.onnx.ml",
            coefficients=[*(-weights).tolist(), *weights.tolist()],
            intercepts=[0.0, 0.0],
            classlabels_strings=["bad", "good"],
            post_transform="SOFTMAX",
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "reads",
        [helper.make_tensor_value_info("comment", TensorProto.STRING, [None, 1])],
        [
            helper.make_tensor_value_info("label", TensorProto.STRING, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2]),
        ],
        [helper.make_tensor("flat", TensorProto.INT64, [1], [-1])],
    )
    versions = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=9)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def keras(path):
    """Save a network that weighs the words of its own vocabulary."""
    keras = pytest.importorskip("keras")
    layer = keras.layers
    network = keras.Sequential(
        [
            keras.Input((1,), dtype="string"),
            layer.TextVectorization(vocabulary=list(WORDS), output_sequence_length=20),
            layer.Embedding(len(WORDS) + 2, 1),
            layer.GlobalAveragePooling1D(),
            layer.Dense(1, activation="sigmoid", use_bias=False),
        ]
    )
    weights = [0.0, 0.0, *WORDS.values()]
    network.layers[1].set_weights([np.array(weights, dtype=np.float32)[:, None]])
    network.layers[3].set_weights([np.array([[20.0]], dtype=np.float32)])
    network.save(path)


@pytest.mark.parametrize(
    ("make", "suffix"), [(pipeline, "pkl"), (columns, "pkl"), (onnx, "onnx"), (keras, "keras")]
)
def test_the_term_that_a_model_decides_by_is_found(table, tmp_path, make, suffix):
    path = tmp_path / f"model.{suffix}"
    make(path)
    opened = open_model(path)
    mapping = match(opened.card, table, "verdict", "good", "1" if suffix == "keras" else None)
    names = dict.fromkeys(each.attribute for each in mapping.inputs)
    domain = Domain(tuple(attribute_of(table.column(name), Role.FIXED) for name in names))
    rows = domain.encode(table)
    nothing = np.full(len(rows), np.nan)
    study = GroupContext(
        domain=domain,
        rows=rows,
        groups=np.empty((len(rows), 0)),
        inside=np.ones(len(rows), dtype=np.bool_),
        label=nothing,
        decided=nothing,
        model=FedModel(opened, mapping, domain.attributes),
        favourable=mapping.favourable_class,
        decisions=mapping.decisions(opened.card),
        text="comment",
    )
    events = testsgd.search(study, rows, testsgd.TestSgdOptions(), np.random.default_rng(0))
    (*_, last) = (event for event in events if isinstance(event, Measured))
    worst, *_ = (each for each in last.figures if isinstance(each, RuleSet))
    assert [condition.term for condition in worst.conditions] == [HATED]
    assert worst.phi_in < worst.phi_out
    assert worst.p < 1e-3
    rates = {each.term: each for each in last.figures if isinstance(each, TermRate)}
    assert rates[HATED].flips == max(each.flips for each in rates.values()) > 0
    texts = [text for text, *_ in comments()]
    for flip in rates[HATED].examples:
        assert isinstance(flip, Flip)
        assert (flip.decision, flip.other_decision) == study.decisions
        assert "works" in flip.text or "argues" in flip.text
        # “In case 7 one gay person ...”: nothing but the fifth word is another
        written, shown = texts[flip.row].split(), flip.text.split()
        assert [*written[:4], HATED, *written[5:]] == shown
    # each alone is answered as among hundreds
    first = rates[HATED].examples[0]
    inputs = [np.array([first.text], dtype=object), *rows[[first.row], 1:].T]
    alone = float(opened.scores(inputs)[0, 0])
    assert alone == pytest.approx(first.score, abs=1e-5)


def test_a_run_on_texts_is_kept_and_a_failed_one_says_why(table, tmp_path, shared_guests):
    columns(tmp_path / "model.pkl")
    worker = Worker()
    card = worker.open_model(tmp_path / "model.pkl")
    spec = comments_spec(table, card)
    terms = {"gender": ("gay", "straight", "male", "female"), "race": ("black", "white")}
    whole = RunSpec("testsgd", text="comment", terms=terms)
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        (*_, last) = run(worker, store, whole)
        assert (last.state, last.message) == ("done", "")
        (record,) = store.runs()
        mined, *figures = record.figures
        assert isinstance(mined, RuleSearchSummary)
        assert mined.attributes == ("gender", "race")
        assert mined.rule_sets == 6 == sum(isinstance(each, RuleSet) for each in figures)
        assert record.queries >= mined.samples > 0
        gay = next(each for each in figures if isinstance(each, TermRate))
        assert (gay.term, len(gay.examples)) == ("gay", min(gay.flips, 20))
        assert gay.flips > 0
        nobody = RunSpec("testsgd", text="comment", terms={"pets": ("cat", "dog")})
        (*_, last) = run(worker, store, nobody)
        assert last.state == "failed"
        without = phrases.NO_TEXT_WITH_TERMS.format(n=160, column="comment", terms=2)
        assert without in last.message
    worker.close()

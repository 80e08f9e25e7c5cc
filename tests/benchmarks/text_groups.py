"""How fast TestSGD is on texts, beside a plain version, and what it finds.

    python -m tests.benchmarks.text_groups [--data wiki] [--model cnn-lstm] [--plain 4]

Two models are trained here on public comments or reviews: a network as in the paper (its own
vectoriser, an embedding, a convolution, an LSTM), and a pipeline of scikit-learn. The plain version
is Algorithm 2 as it is written: rule set after rule set, sentences drawn with replacement, a new
term drawn for each outside, the model asked for each rule set alone. It examines some rule sets,
drawn at random; what it would take for all is extrapolated. It asks the same model in the same
process. Texts and models are as they are: the data contain offensive words.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.groups import testsgd
from fairdesk.groups.context import GroupContext
from fairdesk.groups.text.sentences import Lexicon, ask
from fairdesk.groups.text.terms import TERMS
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.open import open_model
from fairdesk.results.events import Measured
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet, TermRate
from tests.benchmarks.measuring import DATA
from tests.models.matching import match


class Corpus(NamedTuple):
    """Texts with labels."""

    file: str
    text: str
    label: str
    favourable: str


CORPORA = {
    "wiki": Corpus("wiki_toxicity_1492.csv", "comment", "toxic", "not_toxic"),
    "imdb": Corpus("imdb_sample_3000.csv", "text", "label", "positive"),
}
#: Words of a text that the network reads, and words that it knows.
_LENGTH, _KNOWN = 100, 10_000


def cnn_lstm(path: Path, texts: Any, good: Any, epochs: int) -> str:
    """Train a network as the paper's: an embedding, a convolution, an LSTM, a dense layer."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(0)
    layer = keras.layers
    words = layer.TextVectorization(max_tokens=_KNOWN, output_sequence_length=_LENGTH)
    words.adapt(texts)
    network = keras.Sequential(
        [
            keras.Input((1,), dtype="string"),
            words,
            layer.Embedding(_KNOWN, 32),
            layer.Conv1D(32, 5, activation="relu"),
            layer.MaxPooling1D(4),
            layer.LSTM(32),
            layer.Dense(1, activation="sigmoid"),
        ]
    )
    network.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    given = tf.constant(texts[:, None])
    network.fit(given, good.astype(np.float32), batch_size=32, epochs=epochs, verbose=0)
    network.save(path)
    return "1"


def pipeline(path: Path, texts: Any, good: Any, _epochs: int) -> str:
    """Train a vectoriser with a linear model behind it."""
    import pickle

    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1_000))
    path.write_bytes(pickle.dumps(model.fit(texts, good.astype(int))))
    return "1"


MODELS = {"cnn-lstm": (cnn_lstm, "model.keras"), "pipeline": (pipeline, "model.pkl")}


def opened(corpus: Corpus, model: str, folder: Path, epochs: int) -> tuple[GroupContext, float]:
    """Train a model, and open it with its data; and tell how often it is right about them."""
    import pandas as pd

    data = pd.read_csv(DATA / "text" / corpus.file)[[corpus.text, corpus.label]]
    data.to_csv(folder / "data.csv", index=False)
    train, name = MODELS[model]
    good = (data[corpus.label] == corpus.favourable).to_numpy()
    answer = train(folder / name, data[corpus.text].to_numpy(dtype=object), good, epochs)
    table = read_table(folder / "data.csv")
    card = open_model(folder / name)
    mapping = match(card.card, table, corpus.label, corpus.favourable, answer)
    domain = Domain((attribute_of(table.column(corpus.text), Role.FIXED),))
    rows = domain.encode(table)
    fed = FedModel(card, mapping, domain.attributes)
    right = float((labels(fed.predict(rows)) == good).mean())
    nothing = np.full(len(rows), np.nan)
    study = GroupContext(
        domain=domain,
        rows=rows,
        groups=np.empty((len(rows), 0)),
        inside=np.ones(len(rows), dtype=np.bool_),
        label=good.astype(np.float64),
        decided=nothing,
        model=fed,
        favourable=mapping.favourable_class,
        decisions=mapping.decisions(card.card),
        text=corpus.text,
    )
    return study, right


class Plain(NamedTuple):
    """What the plain version took for some rule sets."""

    rule_sets: int
    samples: int
    seconds: float
    apart: float


def plain(study: GroupContext, chosen: list[RuleSet], options: testsgd.TestSgdOptions) -> Plain:
    """Score rule sets one after the other, sharing nothing; and tell how far from ours at most."""
    lexicon, rng = Lexicon(TERMS), np.random.default_rng(1)
    (place,) = study.domain.texts.tolist()
    values = study.domain.attributes[place].values
    named = [lexicon.find(text) for text in values]
    started, samples, apart = perf_counter(), 0, 0.0
    for rule_set in chosen:
        categories = [lexicon.categories.index(each.attribute) for each in rule_set.conditions]
        rule = [
            lexicon.terms[c].index(each.term)
            for c, each in zip(categories, rule_set.conditions, strict=True)
        ]
        seeds = [each for each in named if each and each.categories.issuperset(categories)]
        hits, n, wanted = np.zeros(2), 0, options.sample_thr
        while True:
            for side in range(2):
                texts = []
                for i in rng.integers(len(seeds), size=wanted - n).tolist():
                    choice = rule
                    while side and choice == rule:
                        choice = [int(rng.integers(len(lexicon.terms[c]))) for c in categories]
                    texts += lexicon.rewritten(seeds[i], categories, [choice])
                answers = labels(ask(study, texts, study.rows[np.zeros(len(texts), np.intp)]))
                hits[side] += (answers == study.favourable).sum()
                samples += len(texts)
            n = wanted
            rates = hits / n
            if 1.96 * np.sqrt(rates * (1 - rates) / n).sum() <= options.error_thr:
                break
            wanted = n + 100
        apart = max(apart, abs(float(rates[0] - rates[1]) - (rule_set.phi_in - rule_set.phi_out)))
    return Plain(len(chosen), samples, perf_counter() - started, apart)


def compare(name: str, model: str, arguments: argparse.Namespace) -> None:
    """Measure one model on one corpus."""
    corpus, options = CORPORA[name], testsgd.TestSgdOptions(theta=arguments.theta)
    with tempfile.TemporaryDirectory() as folder:
        study, right = opened(corpus, model, Path(folder), arguments.epochs)
        ask(study, ["so that it is loaded"], study.rows[:1])
        study.queries = 0
        last, told = None, 0
        started = perf_counter()
        events = testsgd.search(study, study.rows, options, np.random.default_rng(0))
        for event in events:
            told += 1
            last = event if isinstance(event, Measured) else last
        seconds, queries = perf_counter() - started, study.queries
        assert last is not None
        mined = next(each for each in last.figures if isinstance(each, RuleSearchSummary))
        rule_sets = [each for each in last.figures if isinstance(each, RuleSet)]
        drawn = np.random.default_rng(2).permutation(len(rule_sets))[: arguments.plain]
        slow = plain(study, [rule_sets[i] for i in drawn], options)
    for_all = slow.seconds / slow.rule_sets * mined.rule_sets
    rows_for_all = slow.samples / slow.rule_sets * mined.rule_sets
    print(f"{name}, {model}: right about {right:.1%} of its own {len(study.rows):,} texts")
    print(
        f"  {mined.texts:,} name anybody; {mined.rule_sets:,} rule sets examined of "
        f"{mined.candidates:,} counted, {mined.samples:,} sentences, {queries:,} model rows, "
        f"{seconds:.1f} s, {told / seconds:.0f} events a second"
    )
    print(
        f"  plain, {slow.rule_sets} rule sets: {slow.samples:,} model rows, {slow.seconds:.1f} s; "
        f"all of them: {rows_for_all:,.0f} rows ({rows_for_all / queries:.1f} times as many), "
        f"{for_all:,.0f} s ({for_all / seconds:.1f} times as long); scores at most "
        f"{slow.apart:.3f} from ours"
    )
    for each in [each for each in rule_sets if each.leader < 0][: arguments.show]:
        rule = ", ".join(condition.term for condition in each.conditions)
        untouched = "" if each.data_in is None else f"; untouched {each.data_in:.1%}"
        print(
            f"  {rule}: {each.phi_in:.1%} against {each.phi_out:.1%} ({each.low:+.1%} to "
            f"{each.high:+.1%}), p {each.p:.2g}, {each.n_in} sentences{untouched}"
        )
    flips = max(
        (each for each in last.figures if isinstance(each, TermRate) and each.tried),
        key=lambda each: each.flips / each.tried,
    )
    print(f"  individual: {flips.flips} of {flips.tried} sentences with “{flips.term}”", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", action="append", choices=[*CORPORA])
    parser.add_argument("--model", action="append", choices=[*MODELS])
    parser.add_argument("--plain", type=int, default=4, help="rule sets of the plain version")
    parser.add_argument("--theta", type=float, default=0.05, help="least support")
    parser.add_argument("--epochs", type=int, default=6, help="of the network’s training")
    parser.add_argument("--show", type=int, default=3, help="findings to print")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.data or CORPORA:
            for model in arguments.model or MODELS:
                compare(name, model, arguments)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()

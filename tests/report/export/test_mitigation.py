"""Exports of a repair: what is read back is the client's own table, with rows added to it."""

import csv
import errno
import hashlib
import re
import sqlite3
import sys

import msgspec
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairdesk.audit.plan.labels import own_labels
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading, Dialect, Kind
from fairdesk.errors import DataError, ReportError, WorkerError
from fairdesk.report.export import mitigation as repair_exports
from fairdesk.report.export.mitigation import write_repair
from fairdesk.results.mitigation import Augmented, Change, Retrained
from tests import phrases
from tests.report.building import spec_of
from tests.report.repairs import FIGURES, HELPLESS_FIGURES

ROWS, ADDED, PORTION = 240, 60, 4
RNG = np.random.default_rng(6)
#: Each kind of column, some of which no attribute knows.
PEOPLE = pd.DataFrame(
    {
        "id": [f"A-{i:04}" for i in range(ROWS)],
        "age": RNG.integers(18, 80, ROWS),
        "income": RNG.uniform(10, 90, ROWS).round(2),
        "sex": RNG.choice(["Frau", "Mann"], ROWS),
        "job": RNG.choice(["Köchin", " Pilot", "=Chef", "-"], ROWS),
        "zip": RNG.choice(["01234", "00815", "90210"], ROWS),
        "debts": RNG.integers(0, 9, ROWS).astype(float),
        "member": RNG.choice([True, False], ROWS),
        "credit": RNG.choice(["nein", "ja"], ROWS),
    }
)
PEOPLE.loc[::20, "job"] = None
PEOPLE.loc[::15, "debts"] = None
NUMBERS, NAMES = ["age", "income", "debts", "zip"], ["sex", "job", "member"]


def pipeline():
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            (OneHotEncoder(handle_unknown="error"), NAMES),
        ),
        DecisionTreeClassifier(max_depth=3),
    )


class Written:
    """How a client wrote a CSV file, and reads it."""

    def __init__(self, delimiter=",", decimal=".", encoding="utf-8", missing="?", header=True):
        # the client's own pipeline takes it as a number
        columns = {"zip" if header else "column 6": ColumnReading(numeric=True)}
        self.dialect = Dialect(delimiter, encoding, header, decimal, (missing,), columns=columns)
        self.missing = missing

    def write(self, path, people=PEOPLE):
        people = people.assign(debts=people.debts.astype("Int64"))
        people.to_csv(
            path,
            sep=self.dialect.delimiter,
            decimal=self.dialect.decimal,
            encoding=self.dialect.encoding,
            header=self.dialect.header,
            na_rep=self.missing,
            index=False,
            lineterminator="\n",
        )
        return path

    def read(self, path, **how):
        return pd.read_csv(
            path,
            sep=self.dialect.delimiter,
            decimal=self.dialect.decimal,
            encoding=self.dialect.encoding,
            header=0 if self.dialect.header else None,
            na_values=[self.missing],
            **how,
        )


def audit(folder, table, *, label="credit", favourable="ja", protected="sex", without=()):
    """Begin an audit of a table; the last kinds of columns are no attributes."""
    kept = spec_of(table, label, favourable, (protected,))
    attributes = [each for each in kept.domain.attributes if each.name not in without]
    inputs = tuple(each for each in kept.mapping.inputs if each.attribute not in without)
    mapping = msgspec.structs.replace(kept.mapping, inputs=inputs)
    spec = msgspec.structs.replace(kept, domain=Domain(tuple(attributes)), mapping=mapping)
    return Store.create(folder / "audit.fairdesk", spec, table)


def added_to(store, count=ADDED, *, texts=()):
    """Invent people: both of a pair, with values that the data have, and one that they have not."""
    spec, table = store.spec, store.table()
    domain = spec.domain
    places = domain.places(table)
    rng = np.random.default_rng(9)
    seeds = np.repeat(rng.choice(places, count // 2), 2)
    rows = domain.encode(table)[seeds]
    for place, attribute in enumerate(domain.attributes):
        if attribute.kind is Kind.INTEGER and attribute.high - attribute.low > 10:
            rows[:, place] = np.minimum(rows[:, place] + rng.integers(0, 3), attribute.high)
        if attribute.kind is Kind.TEXT and texts:
            rows[:, place] = len(attribute.values) + np.arange(count) % len(texts)
    protected = int(domain.protected[0])
    rows[1::2, protected] = 1 - rows[0::2, protected]
    labels = np.repeat(rng.integers(0, 2, count // 2), 2)
    pairs = np.repeat(np.arange(1, count // 2 + 1), 2)
    assert None not in own_labels(spec, table)
    return Augmented("label", rows, labels, pairs, seeds, texts)


def repaired(store, *, figures=FIGURES, made=None):
    """Keep a repair, with rows and the files of a model."""
    run = store.begin_run(RunSpec("repair-aequitas", {"labels": "majority"}, seed=3))
    made = made or added_to(store)
    told = [
        msgspec.structs.replace(each, added=len(made.rows) - 10)
        if getattr(each, "number", 0) == PORTION
        else each
        for each in figures
    ]
    store.keep_rows(run, made)
    for name, content, about in (
        ("model.joblib", b"joblib's bytes", "It was read again, and answers alike."),
        ("model.skops", b"", f"skops {phrases.CANNOT_WRITE_MODEL}."),
    ):
        bytes_ = np.frombuffer(content, np.int8)
        store.keep_model(run, Retrained("train", PORTION, name, about, bytes_))
    store.measure(run, told)
    store.end_run(run, "done")
    return run


def people_store(folder, written, **about):
    table = read_table(written.write(folder / "people.csv"), written.dialect)
    return audit(folder, table, **about)


HOWS = {
    "plain": Written(),
    "german": Written(";", ",", "latin-1", "?"),
    "tabs": Written("\t", ".", "utf-8-sig", "n/a"),
    "utf-16": Written(",", ".", "utf-16", "NA"),
}


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("provenance", ["sidecar", "columns"])
def test_every_file_of_data_feeds_the_clients_own_pipeline(tmp_path, worker, how, provenance):
    written = HOWS[how]
    with people_store(tmp_path, written, without=("debts", "zip")) as store:
        run = repaired(store)
        files = write_repair(store, worker, run, PORTION, tmp_path / "out", provenance=provenance)
    original = written.read(tmp_path / "people.csv")
    fitted = pipeline().fit(original, original.credit)
    again = {
        "csv": written.read(files["augmented.csv"]),
        "parquet": pd.read_parquet(files["augmented.parquet"]),
    }
    for frame in again.values():
        own = frame[original.columns.tolist()] if provenance == "columns" else frame
        assert len(frame) == ROWS + ADDED - 10
        assert own.dtypes.astype(str).tolist() == original.dtypes.astype(str).tolist()
        assert_frame_equal(own.iloc[:ROWS], original)
        # as its maker would: trained again, and asked as it is
        clone(fitted).fit(own, own.credit).predict(own)
        fitted.predict(own)
        assert set(own.credit[ROWS:]) <= {"ja", "nein"}
    assert_frame_equal(again["csv"], again["parquet"])
    if provenance == "columns":
        more = again["csv"].iloc[:, len(original.columns) :]
        assert list(more) == ["origin", "method", "run", "pair", "seed row", "label source"]
        assert more.origin.tolist() == ["original"] * ROWS + ["added"] * (ADDED - 10)
        assert more.iloc[:ROWS, 1:].isna().all(axis=None)


def test_the_clients_rows_are_theirs_letter_for_letter(tmp_path, worker):
    with people_store(tmp_path, Written(), without=("job", "debts")) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    before, after = (tmp_path / "people.csv").read_bytes(), files["augmented.csv"].read_bytes()
    assert after.startswith(before)
    texts = Written().read(files["augmented.csv"], dtype=str)
    # zeros before a number are part of how it is spelt
    assert set(texts.zip[:ROWS]) == {"01234", "00815", "90210"} < set(texts.zip)
    assert set(texts.zip.str.len()) == {5}
    assert set(texts.member) == {"True", "False"}
    assert "?" not in texts.job.fillna("").tolist()
    assert b",?," in after[len(before) :]


def test_what_no_attribute_knows_is_the_nearest_rows_own(tmp_path, worker):
    with people_store(tmp_path, Written(), without=("debts", "zip")) as store:
        run = repaired(store)
        files = write_repair(store, worker, run, PORTION, tmp_path / "out")
        seeds = store.added_rows(run).seeds[: ADDED - 10]
    frame = Written().read(files["augmented.csv"])
    like = frame.iloc[seeds][["id", "zip", "debts"]].reset_index(drop=True)
    assert_frame_equal(frame.iloc[ROWS:][["id", "zip", "debts"]].reset_index(drop=True), like)
    card = files["dataset-card.md"].read_text("utf-8")
    assert "id, zip and debts" in card


def test_a_file_without_names_gets_none(tmp_path, worker):
    written = Written(header=False)
    path = written.write(tmp_path / "people.csv")
    table = read_table(path, written.dialect)
    with audit(tmp_path, table, label="column 9", protected="column 4") as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    original, again = written.read(path), written.read(files["augmented.csv"])
    assert_frame_equal(again.iloc[:ROWS], original)
    assert again.dtypes.tolist() == original.dtypes.tolist()
    assert list(pd.read_parquet(files["augmented.parquet"])) == list(table.names)
    # a person needs names
    shown = pd.read_csv(files["augmented-for-spreadsheets.csv"])
    assert list(shown) == list(table.names)


def test_lines_end_and_begin_as_in_the_file(tmp_path, worker):
    path = Written(";").write(tmp_path / "people.csv")
    text = "sep=;\r\n" + path.read_text("utf-8").replace("\n", "\r\n")
    path.write_bytes(text.encode())
    with audit(tmp_path, read_table(path, Written(";").dialect)) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    after = files["augmented.csv"].read_bytes()
    assert after.startswith(text.encode())
    assert after.count(b"\n") == after.count(b"\r\n") == ROWS + 2 + ADDED - 10


@pytest.mark.parametrize("how", ["plain", "german"])
def test_without_the_data_file_the_audit_is_enough(tmp_path, worker, how):
    written = HOWS[how]
    with people_store(tmp_path, written) as store:
        original = written.read(tmp_path / "people.csv")
        (tmp_path / "people.csv").write_text("something else")
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    for frame in (
        written.read(files["augmented.csv"]),
        pd.read_parquet(files["augmented.parquet"]),
    ):
        assert_frame_equal(frame.iloc[:ROWS], original)
        pipeline().fit(frame, frame.credit)
    assert "was missing or had changed" in files["dataset-card.md"].read_text("utf-8")


def test_a_spreadsheet_runs_no_cell_and_a_program_sees_each_as_it_is(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    exact = Written().read(files["augmented.csv"])
    shown = pd.read_csv(files["augmented-for-spreadsheets.csv"], na_values=["?"])
    assert files["augmented-for-spreadsheets.csv"].read_bytes().startswith(b"\xef\xbb\xbf")
    assert "=Chef" in set(exact.job[ROWS:])
    assert {"'=Chef", "'-"} <= set(shown.job)
    assert "=Chef" not in set(shown.job)
    others = [name for name in exact if name != "job"]
    assert_frame_equal(shown[others], exact[others])
    assert "=Chef" in set(pd.read_parquet(files["augmented.parquet"]).job)


def test_a_parquet_file_keeps_every_type(tmp_path, worker):
    people = PEOPLE.assign(
        age=PEOPLE.age.astype("int8"),
        income=PEOPLE.income.astype("float32"),
        sex=PEOPLE.sex.astype("category"),
        since=pd.Timestamp("2020-02-03") + pd.to_timedelta(PEOPLE.age, "D"),
        debts=PEOPLE.debts.astype("Int16"),
    )
    people.to_parquet(tmp_path / "people.parquet")
    table = read_table(tmp_path / "people.parquet")
    for without in ((), ("since", "sex", "zip")):
        kept = "member" if "sex" in without else "sex"
        folder = tmp_path / kept
        folder.mkdir()
        with audit(folder, table, protected=kept, without=without) as store:
            run = repaired(store)
            files = write_repair(store, worker, run, PORTION, folder, provenance="columns")
        original = pd.read_parquet(tmp_path / "people.parquet")
        again = pd.read_parquet(files["augmented.parquet"])
        assert again.origin.tolist() == ["original"] * ROWS + ["added"] * (ADDED - 10)
        again = again[list(original)]
        assert again.dtypes.tolist() == original.dtypes.tolist()
        assert_frame_equal(again.iloc[:ROWS], original)
        # people of ages that no row has, in the file's own type
        assert again.age.between(18, 90).all()
        assert len(pd.read_csv(files["augmented.csv"])) == ROWS + ADDED - 10


def test_a_table_of_a_database_becomes_plain_csv_and_parquet(tmp_path, worker):
    with sqlite3.connect(tmp_path / "people.db") as base:
        PEOPLE.drop(columns="member").to_sql("people", base, index=False)
    base.close()
    with audit(tmp_path, read_table(tmp_path / "people.db")) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    texts = {"zip": str}
    again = pd.read_csv(files["augmented.csv"], dtype=texts)
    assert len(again) == ROWS + ADDED - 10
    assert again.age[:ROWS].tolist() == PEOPLE.age.tolist()
    assert pd.read_parquet(files["augmented.parquet"]).income[:ROWS].tolist() == (
        PEOPLE.income.tolist()
    )


def test_new_texts_are_written_whole(tmp_path, worker):
    people = PEOPLE[["sex", "credit"]].assign(
        letter=[f"Dear bank, I am applicant number {i} and I need a loan." for i in range(ROWS)]
    )
    people.to_csv(tmp_path / "letters.csv", index=False)
    table = read_table(tmp_path / "letters.csv")
    assert table.column("letter").kind is Kind.TEXT
    texts = ('She said "please", twice,\nand waited.', "=Dear bank", "He asked.")
    with audit(tmp_path, table) as store:
        run = repaired(store, made=added_to(store, texts=texts))
        files = write_repair(store, worker, run, PORTION, tmp_path / "out")
    for frame in (
        pd.read_csv(files["augmented.csv"]),
        pd.read_parquet(files["augmented.parquet"]),
    ):
        assert frame.letter[:ROWS].tolist() == people.letter.tolist()
        assert set(frame.letter[ROWS:]) == set(texts)


def test_a_letter_that_the_files_encoding_lacks_is_told(tmp_path, worker):
    people = PEOPLE[["sex", "credit"]].assign(
        letter=[f"Grüße an die Bank, ich bin Kundin {i} und bitte um Geld." for i in range(ROWS)]
    )
    people.to_csv(tmp_path / "letters.csv", index=False, encoding="latin-1")
    table = read_table(tmp_path / "letters.csv", Dialect(encoding="latin-1"))
    with audit(tmp_path, table) as store:
        run = repaired(store, made=added_to(store, texts=("Łukasz",)))
        with pytest.raises(ReportError, match="latin-1 has no character “Ł”"):
            write_repair(store, worker, run, PORTION, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_each_added_row_says_where_it_comes_from(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        files = write_repair(store, worker, run, PORTION, tmp_path / "out")
        made = store.added_rows(run)
    told = pd.read_csv(files["provenance.csv"])
    assert told.row.tolist() == list(range(ROWS + 1, ROWS + 1 + ADDED - 10))
    assert told["seed row"].tolist() == (made.seeds[: ADDED - 10] + 1).tolist()
    assert told.pair.tolist() == made.pairs[: ADDED - 10].tolist()
    assert set(told["label source"]) == {"majority"}
    assert set(told.method) == {"repair-aequitas"}
    assert set(told.origin) == {"added"}
    inside = write_repair  # the same in columns: no file beside
    with Store.open(tmp_path / "audit.fairdesk") as store:
        files = inside(store, worker, run, PORTION, tmp_path / "in", provenance="columns")
    assert "provenance.csv" not in files
    frame = pd.read_csv(files["augmented.csv"])
    assert frame["seed row"][ROWS:].tolist() == told["seed row"].tolist()


def test_columns_of_the_same_names_give_way(tmp_path, worker):
    people = PEOPLE.rename(columns={"job": "origin"})
    with people_store(tmp_path, Written(), without=()) as store:
        assert "origin" not in store.spec.domain.names
    Written().write(tmp_path / "other.csv", people)
    (tmp_path / "b").mkdir()
    with audit(tmp_path / "b", read_table(tmp_path / "other.csv", Written().dialect)) as store:
        files = write_repair(
            store, worker, repaired(store), PORTION, tmp_path / "out", provenance="columns"
        )
    assert "origin (FairDesk)" in pd.read_csv(files["augmented.csv"])


@pytest.mark.parametrize("provenance", ["sidecar", "columns"])
def test_equal_repairs_are_equal_bytes(tmp_path, worker, provenance):
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        for name in ("a", "b"):
            write_repair(store, worker, run, PORTION, tmp_path / name, provenance=provenance)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_cards_tell_what_the_files_are(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
        data_sha, model_sha = store.spec.data.sha256, store.spec.model.sha256
    data = files["dataset-card.md"].read_text("utf-8")
    model = files["model-card.md"].read_text("utf-8")
    for name in (
        *("augmented.csv", "augmented.parquet", "augmented-for-spreadsheets.csv"),
        *("provenance.csv", "trials.csv", "before-after.csv"),
    ):
        digest = hashlib.sha256(files[name].read_bytes()).hexdigest()
        assert re.search(rf"`{name}` \|.*`{digest}`", data)
    assert data_sha in data
    assert model_sha in model
    assert "exact" in data
    assert "for spreadsheets" in data
    assert hashlib.sha256(b"joblib's bytes").hexdigest() in model
    assert f"No model.skops: skops {phrases.CANNOT_WRITE_MODEL}." in model
    assert files["model.joblib"].read_bytes() == b"joblib's bytes"
    assert "model.skops" not in files
    assert "Accuracy" in model
    for card in (data, model):
        assert "compliant" not in card
        assert "has not checked this against any law" in card
        # tables are whole: each line of one has as many cells as its head
        for table in re.findall(r"(?:^\|.*\n)+", card, flags=re.MULTILINE):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_a_model_that_was_not_chosen_is_not_praised_for_the_one_that_was(tmp_path, worker):
    other = next(each.number for each in FIGURES[1:] if each.added and each.number != PORTION)
    with people_store(tmp_path, Written()) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        store.keep_rows(run, added_to(store, 2_000))
        store.measure(run, FIGURES)
        files = write_repair(store, worker, run, other, tmp_path / "out")
    card = files["dataset-card.md"].read_text("utf-8")
    assert "one that the auditor picked" in card
    assert "less, " not in card
    assert "model-card.md" not in files


def test_the_card_of_a_repair_that_did_not_help_begins_with_that(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        store.keep_rows(run, added_to(store, 2_000))
        store.measure(run, HELPLESS_FIGURES)
        files = write_repair(store, worker, run, 2, tmp_path / "out")
    assert "No augmentation size showed an improvement." in files["dataset-card.md"].read_text(
        "utf-8"
    )


def test_what_a_repair_made_worse_stands_in_both_cards(tmp_path, worker):
    def worsened(trial):
        harm = Change("brier", "", "test", 0, 0.01, 0.004, 0.016, 0.001, "bootstrap")
        kept = [each for each in trial.changes if each.what != "brier"]
        return msgspec.structs.replace(trial, changes=(*kept, harm))

    figures = [worsened(e) if getattr(e, "number", 0) == PORTION else e for e in FIGURES]
    with people_store(tmp_path, Written()) as store:
        run = repaired(store, figures=figures)
        files = write_repair(store, worker, run, PORTION, tmp_path / "out")
    for name in ("dataset-card.md", "model-card.md"):
        card = files[name].read_text("utf-8")
        assert f"* {phrases.WORSE_THAN_ORIGINAL}: Brier score: +0.010" in card


def test_the_card_says_of_what_the_added_rows_are_a_share(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        card = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")[
            "dataset-card.md"
        ].read_text("utf-8")
    added = ADDED - 10
    assert "% of the 18,000 rows used to train the measured model" in card
    assert f"{100 * added / (ROWS + added):.3g} % of the rows of this file" in card
    # a program that reads “?” as a value finds none in the Parquet file
    assert "Missing values are null there: where your program takes “?” for a value" in card


def test_names_from_files_are_no_markup(tmp_path, worker):
    people = PEOPLE.rename(columns={"zip": "<script>|`zip`", "id": "[id](http://x)"})
    Written().write(tmp_path / "people.csv", people)
    table = read_table(tmp_path / "people.csv", Written().dialect)
    with audit(tmp_path, table) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    card = files["dataset-card.md"].read_text("utf-8")
    assert "<script>" not in card.replace("\\<script\\>", "")
    assert "\\[id\\](http://x)" in card


def test_the_measures_are_numbers_in_tables(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        files = write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    before = pd.read_csv(files["before-after.csv"])
    (row,) = before[(before.measure == "Accuracy") & (before.on == "test")].to_dict("records")
    assert row["original model"] == pytest.approx(0.8462)
    assert row["mitigated model"] == pytest.approx(0.8433)
    assert row["change from retrained baseline"] == pytest.approx(0.8433 - 0.8466)
    assert row["change from retrained baseline test"] == "McNemar, exact"
    trials = pd.read_csv(files["trials.csv"])
    assert set(trials.model) == set(range(trials.model.max() + 1))
    assert set(trials[trials.chosen == "yes"].model) == {PORTION}
    assert set(trials[trials.chosen == "yes"].result) == {"better"}
    # nobody was asked about what is proven
    measured = trials.dropna(subset=["measure"])
    proven = measured.measure.str.startswith(("Certified", "Falsified"))
    assert proven.any()
    assert measured.people.isna().tolist() == proven.tolist()


def test_an_earlier_export_is_kept_aside(tmp_path, worker):
    out = tmp_path / "out"
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        write_repair(store, worker, run, PORTION, out)
        (out / "notes.txt").write_text("mine")
        write_repair(store, worker, run, PORTION, out, provenance="columns")
        write_repair(store, worker, run, PORTION, out)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "earlier-1" / "provenance.csv").exists()
    assert not (out / "earlier-2" / "provenance.csv").exists()
    assert (out / "earlier-2" / "augmented.csv").exists()
    assert (out / "provenance.csv").exists()


@pytest.mark.parametrize(
    "place", ["write_exactly", "write_guarded", "write_rows", "card", "sha256"]
)
def test_a_full_disk_leaves_the_folder_as_it_was(tmp_path, worker, monkeypatch, place):
    out = tmp_path / "out"

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        write_repair(store, worker, run, PORTION, out)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        monkeypatch.setattr(repair_exports, place, full)
        for folder in (out, tmp_path / "new"):
            with pytest.raises(ReportError, match="is full"):
                write_repair(store, worker, run, PORTION, folder)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_a_move_that_fails_is_undone(tmp_path, worker, monkeypatch):
    out = tmp_path / "out"
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        write_repair(store, worker, run, PORTION, out)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        real, count = repair_exports.Path.rename, []

        def sometimes(self, target):
            count.append(self)
            if len(count) == 14:
                raise PermissionError(errno.EACCES, "another program has it open")
            return real(self, target)

        monkeypatch.setattr(repair_exports.Path, "rename", sometimes)
        with pytest.raises(ReportError):
            write_repair(store, worker, run, PORTION, out)
    assert len(count) > 14
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_that_is_a_file_is_told(tmp_path, worker):
    (tmp_path / "out").write_text("mine")
    with people_store(tmp_path, Written()) as store, pytest.raises(ReportError, match="out"):
        write_repair(store, worker, repaired(store), PORTION, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_what_cannot_be_exported_is_told(tmp_path, worker):
    with people_store(tmp_path, Written()) as store:
        search = store.begin_run(RunSpec("maft"))
        store.end_run(search, "done")
        run = repaired(store)
        with pytest.raises(ReportError, match="is not a mitigation run"):
            write_repair(store, worker, search, 1, tmp_path / "out")
        with pytest.raises(ReportError, match="is not a mitigation run"):
            write_repair(store, worker, 99, 1, tmp_path / "out")
        with pytest.raises(ReportError, match="has no model 77"):
            write_repair(store, worker, run, 77, tmp_path / "out")
        with pytest.raises(ReportError, match=f"“Retrained baseline” {phrases.ADDS_NO_ROWS}"):
            write_repair(store, worker, run, 1, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_cannot_be_retrained_gets_all_rows(tmp_path, worker):
    imported = next(each for each in FIGURES if getattr(each, "number", -1) == 0)
    repair = msgspec.structs.replace(FIGURES[0], retrains=False, chosen=-1)
    with people_store(tmp_path, Written()) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        store.keep_rows(run, added_to(store))
        store.measure(run, (repair, imported))
        files = write_repair(store, worker, run, 0, tmp_path / "out")
    assert len(Written().read(files["augmented.csv"])) == ROWS + ADDED
    assert "model-card.md" not in files
    card = files["dataset-card.md"].read_text("utf-8")
    assert phrases.NOT_RETRAINED in card
    assert "retrains the model while" not in card


def test_more_than_a_piece_is_written_whole(tmp_path, worker, monkeypatch):
    monkeypatch.setattr("fairdesk.report.export.tables._CHUNK", 7)
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        (tmp_path / "people.csv").rename(tmp_path / "moved.csv")
        files = write_repair(store, worker, run, PORTION, tmp_path / "out")
    original, again = Written().read(tmp_path / "moved.csv"), Written().read(files["augmented.csv"])
    assert_frame_equal(again.iloc[:ROWS], original)
    with files["augmented.csv"].open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == 1 + ROWS + ADDED - 10


def test_another_parquet_file_is_refused(tmp_path, worker):
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    table = read_table(tmp_path / "people.parquet")
    PEOPLE.head(5).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match="not the file that was audited"):
        worker.pack(table, table.codes[:3], tmp_path / "other.parquet")
    (tmp_path / "other.parquet").write_bytes(b"PAR1 broken")
    with pytest.raises(DataError, match="cannot be read"):
        worker.pack(table, table.codes[:3], tmp_path / "other.parquet")


def test_what_is_no_parquet_file_is_not_written(tmp_path):
    source = tmp_path / "guest.py"
    source.write_text(
        "from fairdesk.audit.worker import guest\n"
        "from fairdesk.data.formats import parquet\n"
        "parquet.packed = lambda *_: b'PAR1 and harm'\n"
        "guest.main()\n"
    )
    worker = Worker(command=(sys.executable, str(source)))
    with people_store(tmp_path, Written()) as store:
        run = repaired(store)
        with pytest.raises(WorkerError, match=phrases.MISFIT):
            write_repair(store, worker, run, PORTION, tmp_path / "out")
    worker.close()
    assert not (tmp_path / "out").exists()

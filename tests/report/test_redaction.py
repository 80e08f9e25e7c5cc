"""What is left out of single people: no row of the data, no text, no note, and it is said."""

import base64
import io
import json
import re

import lxml.html
import numpy as np
import pytest
from pypdf import PdfReader

from fairdesk.audit import chain
from fairdesk.audit.details import Choice
from fairdesk.audit.records import LogEntry, RunRecord
from fairdesk.audit.spec import RunSpec
from fairdesk.audit.store import Store
from fairdesk.data.domain import Domain, Role, attribute_of
from fairdesk.data.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.events import Flip, Found, GroupLine, GroupTable, TermRate
from fairdesk.report import html, pages
from fairdesk.report.blocks import PairCard
from fairdesk.report.document import make_report
from fairdesk.report.language import using
from fairdesk.report.redaction import (
    FEWEST,
    LEFT_OUT,
    OTHER,
    SENTENCES,
    Shown,
    band_edges,
    band_text,
)
from fairdesk.report.structured import structured
from tests.report.building import people_store, run_into, spec_of

UNFAIR = [[1], [2], [1], [1], [1]]
WAYS = ("synthetic", "bands")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """An audit with pairs of real people, the widest of all, and a pair that is noted on."""
    with people_store(tmp_path_factory.mktemp("redaction")) as store:
        run_into(store, "uniform", weights=UNFAIR, options={"samples": 1000})
        add_real(store, store.spec.domain.people(store.table())[:40])
        store.mark(1, "flagged")
        store.note(1, "looks like our client Bramble")
        yield store


@pytest.fixture(scope="module")
def reports(store):
    return {way: make_report(store, Choice(redaction=way)) for way in ("none", *WAYS)}


@pytest.fixture(scope="module")
def texts(reports):
    return {way: everywhere(reports[way]) for way in WAYS}


def add_real(store, rows):
    """Keep pairs whose person is a row of the data, as wide apart as can be."""
    domain = store.spec.domain
    partners = rows.copy()
    sex = int(domain.protected[0])
    partners[:, sex] = 1 - partners[:, sex]
    scores = np.tile([0.01, 0.99], (len(rows), 1)).astype(np.float32)
    run = store.begin_run(RunSpec("maft", {}, 0))
    store.add(
        run,
        Found(
            phase="global",
            rows=rows,
            partners=partners,
            row_scores=scores,
            partner_scores=scores[:, ::-1].copy(),
            alone=np.ones((len(rows), 1), dtype=bool),
        ),
    )
    store.end_run(run, "done")
    return run


def real_people(store):
    """Give the rows of the data, each as the texts of its attributes."""
    domain = store.spec.domain
    return {
        tuple(one.text(code) for one, code in zip(domain.attributes, row, strict=True))
        for row in domain.people(store.table()).tolist()
    }


def cards(report):
    return [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, PairCard)
    ]


def shown_people(report):
    return {
        tuple(person)
        for card in cards(report)
        for person in zip(*((row.first, row.second) for row in card.rows), strict=True)
    }


def everywhere(report):
    """Give all text of a report, by format; of the PDF its attachment too."""
    reader = PdfReader(io.BytesIO(pages.pdf(report)))
    text = "\n".join(page.extract_text() for page in reader.pages)
    page = html.page(report)
    (link,) = re.findall(r'href="data:application/json;base64,([^"]+)"', page)
    return {
        "pdf": text + reader.attachments["manifest.json"][0].decode(),
        "html": page + base64.b64decode(link).decode(),
        "json": structured(report).decode(),
    }


def test_a_pair_of_a_real_person_is_shown_only_where_nothing_is_left_out(store, reports):
    real = real_people(store)
    assert shown_people(reports["none"]) & real
    for way in WAYS:
        assert cards(reports[way]), "others are shown in their place"
        assert not shown_people(reports[way]) & real


def test_nobody_stands_in_a_report_of_invented_people_with_another_sex_only(store, reports):
    others = store.spec.domain.others.tolist()
    real = {tuple(row[i] for i in others) for row in real_people(store)}
    shown = shown_people(reports["synthetic"])
    assert not {tuple(row[i] for i in others) for row in shown} & real


def test_no_real_row_stands_in_any_format(store, reports, texts):
    real = real_people(store)
    for way in WAYS:
        page = lxml.html.document_fromstring(texts[way]["html"])
        listed = {
            tuple(cell.text_content() for cell in table.xpath(f".//tbody[1]/tr/td[{place}]"))
            for table in page.xpath("//table[@class='pair']")
            for place in (1, 2)
        }
        assert len(listed) > 2
        assert not listed & real
        document = json.loads(texts[way]["json"])
        told = {
            tuple(row[who] for row in block["rows"])
            for section in document["sections"]
            for block in section["blocks"]
            if block["type"] == "pair"
            for who in ("first", "second")
        }
        assert told == listed
        # the cells of a row follow each other, attribute by attribute, in the text of a page
        words = " ".join(texts[way]["pdf"].split())
        names = store.spec.domain.names
        found = [
            row
            for row in real
            if re.search(
                r"[\s≠]+".join(
                    rf"{re.escape(name)} {re.escape(value)} \S+"
                    for name, value in zip(names, row, strict=True)
                ),
                words,
            )
        ]
        assert not found


def test_in_bands_nobody_stands_alone(store, reports):
    """Whose bands and names a row has, have at least so many rows."""
    spec, table = store.spec, store.table()
    shown = Shown("bands", spec, table)
    rows = [
        tuple(shown.value(i, code) for i, code in enumerate(row))
        for row in spec.domain.people(table).tolist()
    ]
    told = shown_people(reports["bands"])
    assert told
    for person in told:
        alike = sum(row == person for row in rows)
        assert alike == 0 or alike >= FEWEST
    age = spec.domain.names.index("age")
    assert all(re.fullmatch(r"under .*|.* or more|.* to .*", person[age]) for person in told)


def test_names_of_single_rows_and_notes_stand_nowhere(reports, texts):
    assert any("Bramble" in card.note for card in cards(reports["none"]))
    for way in WAYS:
        for form, text in texts[way].items():
            assert "Bramble" not in text, form
            assert not re.search(r"Person \d", text), form


def test_it_is_said_on_the_cover_among_the_limits_and_in_the_manifest(reports, texts):
    for way in WAYS:
        report = reports[way]
        assert report.redacted == SENTENCES[way]
        assert json.loads(report.manifest)["redacted"] == SENTENCES[way]
        assert any(fact.name == "Single people" for fact in report.cover)
        (limits,) = (section for section in report.sections if section.key == "limits")
        assert SENTENCES[way] in [block.text for block in limits.blocks]
        for form, text in texts[way].items():
            plain = " ".join(re.sub("<[^>]*>", " ", text).split())
            assert SENTENCES[way][:60] in plain, form
    assert not reports["none"].redacted
    assert "redacted" not in json.loads(reports["none"].manifest)


def test_the_log_keeps_its_fingerprints(store):
    entries = store.log_entries()
    told = Shown("synthetic", store.spec, store.table()).log(entries)
    assert [entry.link for entry in told] == [entry.link for entry in entries]
    assert chain.head(told) == chain.head(entries)
    assert [entry.what == LEFT_OUT for entry in told] == [
        "Bramble" in entry.what or entry.kind in ("marked", "learned") for entry in entries
    ]
    old = LogEntry("2026-11-21T10:00:00+00:00", "Pair 3: note “Bramble”.")
    assert Shown("bands", store.spec, store.table()).log([old])[0].what == LEFT_OUT
    assert Shown("none", store.spec, store.table()).log([old]) == [old]


def test_names_that_few_rows_have_are_not_written(tmp_path):
    lines = ["job,sex,credit"]
    lines += [
        f"{('clerk', 'cook')[i % 2]},{'mf'[i % 2]},{('no', 'yes')[i % 3 > 0]}" for i in range(60)
    ]
    lines += [f"astronaut,m,{answer}" for answer in ("yes", "no", "no")]
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(lines) + "\n")
    table = read_table(path)
    spec = spec_of(table, "credit", "yes", ("sex",))
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        shown = Shown("synthetic", spec, table)
        job = spec.domain.attributes[0]
        assert shown.value(0, job.values.index("astronaut")) == OTHER
        assert shown.value(0, job.values.index("cook")) == "cook"
        assert shown.values(table.columns[0]) == ("clerk", "cook")
        (told,) = (
            each
            for each in json.loads(make_report(store, Choice(redaction="bands")).manifest)["spec"][
                "columns"
            ]
            if each["name"] == "job"
        )
        assert told["values"] == [OTHER, "clerk", "cook"]


def test_texts_are_quoted_nowhere(tmp_path):
    rng = np.random.default_rng(3)
    words = ["quince", "harbour", "velvet", "lantern", "meadow", "saffron", "copper", "willow"]
    texts = [" ".join(rng.permutation(words)) + f" number {i} spoken" for i in range(60)]
    path = tmp_path / "texts.csv"
    rows = [
        f'"{text}",{i % 40},{"fm"[i % 2]},{("no", "yes")[i % 3 > 0]}'
        for i, text in enumerate(texts)
    ]
    path.write_text("\n".join(["text,age,sex,credit", *rows]) + "\n")
    table = read_table(path)
    assert Kind.TEXT in {column.kind for column in table.columns}
    attributes = tuple(
        attribute_of(
            column,
            {"sex": Role.PROTECTED, "text": Role.FIXED}.get(column.name, Role.VARIES),
        )
        for column in table.columns
        if column.name != "credit"
    )
    spec = spec_of(table, "credit", "yes", ("sex",), domain=Domain(attributes))
    flip = Flip(0, texts[0], texts[1], "she", 0.9, 0.1, "yes", "no")
    rate = TermRate("gender", "he", 5, 50, 0.5, 40, 3, (flip,))
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        run = store.begin_run(RunSpec("testsgd", {}, 0))
        store.measure(run, (rate,))
        store.end_run(run, "done")
        assert texts[0] in structured(make_report(store, Choice())).decode()
        for way in WAYS:
            told = structured(make_report(store, Choice(redaction=way))).decode()
            assert not [each for each in texts if each in told]
        assert Shown("bands", spec, table).value(0, 3) == "a text, left out"


def line(people, rate=0.5):
    return GroupLine(
        values=(f"group of {people}",),
        codes=(float(people),),
        known=True,
        people=people,
        share=0.1,
        favourable=int(people * rate),
        rate=rate,
        low=0.0,
        high=1.0,
    )


def table_of(*people, reference=0):
    lines = tuple(map(line, people))
    return GroupTable("label", "yes", ("race",), sum(people), 0, 0, 5, reference, lines)


@pytest.mark.parametrize(
    ("people", "kept"),
    [
        ((90, 4, 3, 80), [90, 80]),
        # one alone is what the others leave of the whole: the next smallest goes too
        ((90, 4, 30, 80), [90, 80]),
        ((90, 0, 5, 80), [90, 0, 5, 80]),
        ((4,), []),
    ],
)
def test_groups_of_a_few_people_are_left_out(store, people, kept):
    shown = Shown("synthetic", store.spec, store.table())
    told = shown.table(table_of(*people))
    assert [each.people for each in told.lines] == kept
    assert told.reference == (0 if kept else -1)
    assert Shown("none", store.spec, store.table()).table(table_of(*people)) == table_of(*people)


def test_the_reference_moves_with_its_group(store):
    shown = Shown("bands", store.spec, store.table())
    told = shown.table(table_of(2, 3, 90, 80, reference=2))
    assert told.lines[told.reference].people == 90
    assert shown.table(table_of(2, 3, 90, reference=0)).reference == -1


def test_small_groups_stand_in_no_run(store):
    run = RunRecord(
        1, RunSpec("groups"), "done", "", "", "", 0.0, 0, 0, 0, {}, (), 0, (table_of(90, 3, 2),)
    )
    shown = Shown("synthetic", store.spec, store.table())
    for template in ("plain", "annex-iv", "model-card"):
        (told,) = shown.runs([run], template)
        assert [each.people for each in told.figures[0].lines] == [90]
    # Local Law 144 asks for every category
    assert shown.runs([run], "ll144") == [run]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("integral", [True, False])
def test_every_band_holds_enough_rows(seed, integral):
    rng = np.random.default_rng(seed)
    values = rng.gamma(1.5, 20, 400)
    values = np.round(values) if integral else values
    values[::17] = np.nan
    edges = band_edges(values, integral=integral)
    assert edges == tuple(sorted(set(edges)))
    assert edges
    known = values[~np.isnan(values)]
    counts = np.bincount(np.searchsorted(edges, known, side="right"), minlength=len(edges) + 1)
    assert counts.min() >= FEWEST
    texts = {band_text(edges, value, integral=integral) for value in known.tolist()}
    assert len(texts) == len(edges) + 1


def test_bands_of_few_or_equal_numbers_tell_nothing():
    assert band_edges(np.array([3.0, 9.0, np.nan]), integral=True) == ()
    assert band_edges(np.zeros(500), integral=True) == ()
    assert band_edges(np.full(4, np.nan), integral=False) == ()
    assert band_text((), 7.0, integral=True) == "any value"


def test_what_is_said_has_the_number_that_is_kept_to():
    for way in WAYS:
        assert f"fewer than {FEWEST} rows" in SENTENCES[way]
        assert f"1 to {FEWEST - 1} people" in SENTENCES[way]
    with using("de"):
        assert band_text((1000.0, 2000.5), 1500.0, integral=False) == "1.000 to under 2.000,5"


def test_bands_have_names_that_touch_and_do_not_overlap():
    edges = (20.0, 21.0, 40.0)
    told = [band_text(edges, value, integral=True) for value in (19, 20, 21, 39, 40, 99)]
    assert told == ["under 20", "20", "21 to 39", "21 to 39", "40 or more", "40 or more"]
    assert band_text((0.5, 1.0), 0.75, integral=False) == "0.5 to under 1"

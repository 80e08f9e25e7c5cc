"""What is left out of single people: no row of the data, no text, no note, and it is said."""

import base64
import io
import json
import re

import lxml.html
import msgspec
import numpy as np
import pytest
from pypdf import PdfReader

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import Categories, Choice, LogEntry, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Limit, Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.document.blocks import PairCard, Text
from fairdesk.report.content.choosing import parts
from fairdesk.report.content.redaction import (
    FEWEST,
    LEFT_OUT,
    NAMED,
    OTHER,
    SENTENCES,
    Shown,
    band_edges,
    band_text,
)
from fairdesk.report.document import make_report, whole_report, write_report
from fairdesk.report.render import html
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.html import structured
from fairdesk.report.verified.files import check_files
from fairdesk.results.events import Found
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import ChangeSplit, Share, ValueChange, ValueChanges
from fairdesk.results.proofs import Condition, PairShare, Proven, Region
from fairdesk.results.subgroups import Flip, LinearGroup, RuleSearchSummary, RuleSet, TermRate
from tests import phrases
from tests.report.building import people_store, run_into, spec_of
from tests.report.details import example_details

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
            sufficient_alone=np.ones((len(rows), 1), dtype=bool),
        ),
    )
    store.end_run(run, "done")
    return run


def real_people(store):
    """Return the rows of the data, each as the texts of its attributes."""
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
    """Return all text of a report, by format; of the PDF its attachment too."""
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
        consistent = sum(row == person for row in rows)
        assert consistent == 0 or consistent >= FEWEST
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
        assert any(fact.name == "Individual-level data" for fact in report.cover)
        (limits,) = (section for section in report.sections if section.key == "limits")
        assert SENTENCES[way] in [each.text for each in limits.blocks if isinstance(each, Text)]
        for form, text in texts[way].items():
            plain = " ".join(re.sub("<[^>]*>", " ", text).split())
            assert SENTENCES[way][:60] in plain, form
    assert not reports["none"].redacted
    assert "redacted" not in json.loads(reports["none"].manifest)


def test_the_log_keeps_its_fingerprints(store):
    entries = store.log_entries()
    told = Shown("synthetic", store.spec, store.table()).log(entries)
    assert [entry.link for entry in told] == [entry.link for entry in entries]
    assert digests.head(told) == digests.head(entries)
    assert [entry.what == LEFT_OUT for entry in told] == [
        "Bramble" in entry.what or entry.kind in ("marked", "learned") for entry in entries
    ]
    noted = LogEntry("2026-11-21T10:00:00+00:00", "Pair 3: note “Bramble”.", "marked")
    assert Shown("bands", store.spec, store.table()).log([noted])[0].what == LEFT_OUT
    assert Shown("none", store.spec, store.table()).log([noted]) == [noted]


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
        assert Shown("bands", spec, table).value(0, 3) == "free text, omitted"


def line(people, rate=0.5):
    return GroupLine(
        values=(f"group of {people}",),
        codes=(float(people),),
        known=True,
        n_samples=people,
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
    assert [each.n_samples for each in told.lines] == kept
    assert told.reference == (0 if kept else -1)
    assert Shown("none", store.spec, store.table()).table(table_of(*people)) == table_of(*people)


def test_the_reference_moves_with_its_group(store):
    shown = Shown("bands", store.spec, store.table())
    told = shown.table(table_of(2, 3, 90, 80, reference=2))
    assert told.lines[told.reference].n_samples == 90
    assert shown.table(table_of(2, 3, 90, reference=0)).reference == -1


def test_small_groups_stand_in_no_run(store):
    run = RunRecord(
        1, RunSpec("groups"), "done", "", "", "", 0.0, 0, 0, 0, {}, (), 0, (table_of(90, 3, 2),)
    )
    shown = Shown("synthetic", store.spec, store.table())
    for template in ("plain", "annex-iv", "model-card"):
        (told,) = shown.runs([run], template)
        assert [each.n_samples for each in told.figures[0].lines] == [90]
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
        assert f"1 to {FEWEST - 1} " in SENTENCES[way]


def test_bands_have_names_that_touch_and_do_not_overlap():
    edges = (20.0, 21.0, 40.0)
    told = [band_text(edges, value, integral=True) for value in (19, 20, 21, 39, 40, 99)]
    assert told == ["under 20", "20", "21 to 39", "21 to 39", "40 or more", "40 or more"]
    assert band_text((0.5, 1.0), 0.75, integral=False) == "0.5 to under 1"


RARE = ("Astronaut", "two late or more", "Zoroastrian")
TEMPLATES = ("plain", "ll144", "annex-iv", "model-card")


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """An audit that speaks of names of two rows wherever an audit can."""
    folder = tmp_path_factory.mktemp("rare")
    lines = ["job,faith,paid,age,credit"]
    for i in range(120):
        job, faith = ("clerk", "cook")[i % 2], ("none", "pagan", "Jedi")[i % 3]
        lines.append(
            f"{job},{faith},{('late', 'in time')[i % 5 > 0]},{20 + i % 40},{'yn'[i % 4 > 1]}"
        )
    lines += [f"{RARE[0]},{RARE[2]},{RARE[1]},{30 + i},y" for i in range(2)]
    (folder / "rare.csv").write_text("\n".join(lines) + "\n")
    table = read_table(folder / "rare.csv")
    job, faith, paid, age = (table.column(name) for name in ("job", "faith", "paid", "age"))
    attributes = (
        attribute_of(job, Role.PROTECTED),
        attribute_of(faith, Role.PROTECTED),
        attribute_of(paid, Role.VARIES, Limit(values=(RARE[1], "late"))),
        attribute_of(age),
    )
    constraints = (f'faith = {RARE[2]} implies paid = "{RARE[1]}"',)
    spec = spec_of(
        table,
        "credit",
        "y",
        ("job", "faith"),
        domain=constrained_domain(attributes, constraints, table),
    )
    inputs = tuple(
        msgspec.structs.replace(one, name=f"{one.name}_{RARE[0]}") for one in spec.mapping.inputs
    )
    spec = msgspec.structs.replace(
        spec,
        columns=tuple(msgspec.structs.replace(c, note=f"Has “{RARE[0]}”.") for c in spec.columns),
        mapping=msgspec.structs.replace(spec.mapping, inputs=inputs),
        model=msgspec.structs.replace(spec.model, inputs=tuple(one.name for one in inputs)),
    )
    with Store.create(folder / "a.fairdesk", spec, table) as store:
        run_into(store, options={"global_num": 40, "local_num": 20}, message=f"Met {RARE[0]}.")
        speak_of_rare(store)
        yield store


def speak_of_rare(store):
    """Tell of rare names in figures, decisions and categories."""
    job, faith = store.spec.domain.attributes[:2]
    code, god = job.values.index(RARE[0]), faith.values.index(RARE[2])
    note = (f"Of {RARE[0]} little is known.",)
    proven = Proven("domain", ("job", "faith"), 0.5, 0.2, 0.3, "1000", "500", "200", notes=note)
    pair = PairShare(("job", "faith"), (0.0, 0.0), (float(code), float(god)), 0.1, 0.2)
    box = Region("discriminatory", (Condition("job", codes=(float(code),)),), 0.2, "200", 0.1)
    held = Condition("faith", codes=(float(god),))
    rule = RuleSet((held,), "y", 0.3, 0.1, 0.4, 0.02, 0.95, 0.1, 500, 50, 450, 0.1, 0.5, 0.001)
    line = LinearGroup(
        (f"job = {RARE[0]}",), (1.0,), 0.0, "y", 0.1, 90, 0.2, 0.5, 0.3, 0.03, -0.4, -0.1
    )
    for method, told in (
        ("certify", (proven, pair, box)),
        (
            "testsgd",
            (
                RuleSearchSummary("y", ("faith",), 0.05, 9, 12, 500, 0.03, 1.0, notes=note),
                rule,
                line,
            ),
        ),
    ):
        run = store.begin_run(RunSpec(method))
        store.measure(run, told)
        store.end_run(run, "done")
    store.log(f"Of “job” {phrases.ONLY_THESE} “{RARE[0]}”.", "decided", {"values": [RARE[0]]})
    store.log("The domain was set.", "decided", {"faith": {RARE[2]: 1}})
    named = Categories(race="faith", names={"faith": {RARE[2]: RARE[2], "pagan": "Pagan"}})
    store.write_details(msgspec.structs.replace(example_details("plain"), categories=named))


def with_everything(store, template, way):
    """Make a report with all that can be added to it."""
    choice = Choice(template, redaction=way)
    added = tuple(
        part.key for part in parts(whole_report(store, choice), choice) if "/" in part.key
    )
    return structured(make_report(store, msgspec.structs.replace(choice, added=added))).decode()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_name_that_two_rows_have_stands_nowhere(rare, template):
    whole = with_everything(rare, template, "none")
    assert all(name in whole for name in RARE), "there is something to be left out"
    for way in WAYS:
        told = with_everything(rare, template, way)
        assert not [name for name in RARE if name in told]
        assert "pagan" in told


def test_a_name_that_two_rows_have_stands_not_beside_the_report(rare, tmp_path):
    for way in WAYS:
        path = tmp_path / f"{way}.html"
        write_report(rare, path, "html", Choice(redaction=way), unlogged="Only read.")
        page = path.read_text() + path.with_name(path.name + ".manifest.json").read_text()
        (link,) = re.findall(r'href="data:application/json;base64,([^"]+)"', page)
        page += base64.b64decode(link).decode()
        assert not [name for name in RARE if name in page]


@pytest.mark.parametrize("way", WAYS)
def test_gains_by_value_are_left_out(rare, way):
    share = Share(
        "data", ("job",), 20, 9, True, 0.95, *[0.45] * 5, gains=6, losses=3, by_value=((0.0, 6, 3),)
    )
    moved = ValueChanges("job", 1, (ValueChange(0.0, 1.0, 20, 6, 3),))
    split = ChangeSplit(("job", "sex"), 9, (4, 2), 1, 2)
    run = msgspec.structs.replace(rare.runs()[0], figures=(share, moved, split))
    (told,) = Shown(way, rare.spec, rare.table()).runs([run], "plain")
    without = msgspec.structs.replace(share, by_value=()), ValueChanges("job", 1, ())
    assert told.figures == (*without, split)


def test_entries_with_a_rare_name_are_left_out_of_the_log(rare):
    shown = Shown("bands", rare.spec, rare.table())
    told = shown.log(rare.log_entries())
    kinds = [entry.kind for entry in told if entry.what == NAMED]
    assert kinds.count("decided") >= 2
    assert not [
        entry
        for entry in told
        for name in RARE
        if entry.kind != "details" and name in entry.what + entry.facts
    ]
    assert all(entry.facts == "" for entry in told if entry.what == NAMED)
    assert digests.head(told) == digests.head(rare.log_entries())


@pytest.mark.parametrize("way", WAYS)
def test_what_is_left_out_makes_no_difference_to_a_check(rare, tmp_path, way):
    paths = [tmp_path / f"{way}.{form}" for form in ("html", "json")]
    for path in paths:
        write_report(rare, path, path.suffix[1:], Choice(redaction=way))
    beside = paths[0].with_name(f"{paths[0].name}.manifest.json")
    with Store.read(rare.path) as read:
        checks = list(check_files(read, rare.path, paths, beside))
    assert not [told for check in checks if check.failed for told in check.remarks]
    manifest = json.loads(make_report(rare, Choice(redaction=way)).manifest)
    assert all(run["sha256"] for run in manifest["runs"])


def test_names_in_a_text_are_found_as_words(rare):
    shown = Shown("synthetic", rare.spec, rare.table())
    assert shown.words("job_Astronaut, Astronauts") == f"job_{OTHER}, Astronauts"
    assert shown.words("is “two late or more” late") == f"is “{OTHER}” late"
    assert shown.words("two late or less") == "two late or less"
    assert Shown("none", rare.spec, rare.table()).words("Astronaut") == "Astronaut"


def test_short_names_count_where_nothing_but_values_is_told(tmp_path):
    lines = [
        "code,sex,credit",
        *(f"{'AB'[i % 2]},{'mf'[i % 3 > 0]},{'ny'[i % 4 > 0]}" for i in range(60)),
    ]
    (tmp_path / "codes.csv").write_text("\n".join([*lines, "7,m,y", "X,f,n"]) + "\n")
    table = read_table(tmp_path / "codes.csv")
    shown = Shown("bands", spec_of(table, "credit", "y", ("sex",)), table)
    assert shown.words("Run 7 of X, “X”") == f"Run 7 of X, “{OTHER}”"
    assert shown.words("code = 7", strict=True) == f"code = {OTHER}"
    ran = LogEntry("2026-11-21T10:00:00+00:00", "Run 7 began.", "ran")
    asked = LogEntry("2026-11-21T10:00:00+00:00", "A domain.", "decided", '{"code": ["7"]}')
    assert [entry.what for entry in shown.log([ran, asked])] == ["Run 7 began.", NAMED]

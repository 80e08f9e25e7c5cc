"""The PDF: everything the report must hold is in its text, and nothing is lost or run."""

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from pypdf import PdfReader

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import Choice, LogEntry, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ReportError
from fairdesk.report.content.material import SHOWN, gather
from fairdesk.report.document import make_pdf, make_report, summarised, write_pdf
from fairdesk.report.provenance import evidence
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.pdf import printable
from fairdesk.results.events import Progress
from fairdesk.results.individual import GradientFidelity, SearchPhase, Share
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.wording import words
from tests import phrases
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of, text_of, whole_section, words_of

SECTIONS = (
    *("Group metrics", "Individual discrimination", "Limitations"),
    *(
        phrases.SYSTEM_AND_USE,
        "Sign-off",
        "Data",
        "Model",
        phrases.METHODS_AND_SETTINGS,
        phrases.EVIDENCE_SECTION,
    ),
    phrases.APPENDIX,
)
UNFAIR = [[1], [2], [1], [1], [1]]
FEW = {"global_num": 30, "local_num": 20}


def read(store):
    return PdfReader(io.BytesIO(make_pdf(store)))


def set_text(reader):
    """Return the text of the pages with single spaces, so that line ends do not matter."""
    pages = [page.extract_text() for page in reader.pages]
    return re.sub(r"\s+", " ", " ".join(pages).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    with people_store(folder, ("sex", "job")) as store:
        run_into(store, options=FEW, weights=UNFAIR)
        run_into(store, "uniform", options={"samples": 300}, weights=UNFAIR, state="stopped")
        pairs = store.pairs(PairQuery(order="difference"), 0, 3)
        store.mark(pairs[0].id, "flagged")
        store.note(pairs[0].id, "Ask the vendor about #this[*one*].")
        store.mark(pairs[1].id, "dismissed")
        store.log("Marked “sex” and “job” as protected.", "decided")
        yield store


@pytest.fixture(scope="module")
def reader(audited):
    return read(audited)


@pytest.fixture(scope="module")
def text(audited):
    return text_of(audited)


def test_all_sections_are_there_in_order(reader):
    titles = [re.sub(r"^[\d. ]+", "", one.title) for one in flat(reader.outline)]
    # what of a section is in the appendix has its title again
    chapters = list(dict.fromkeys(title for title in titles if title in SECTIONS))
    assert tuple(chapters) == SECTIONS


def test_every_word_is_on_the_pages(reader, audited):
    """Not that it is beautiful: that nothing of the content is lost between it and the pages."""
    held = set(re.findall(r"\w{4,}", set_text(reader)))
    report = make_report(audited)
    for section in report.sections:
        said = [each.text for each in blocks_of(section, "Text")]
        answered = blocks_of(section, "Answer")
        for each in (*blocks_of(section, "Statement"), *(answer.said for answer in answered)):
            said += [each.number, each.label, each.sentence, *each.details]
        for each in (*said, *(answer.question for answer in answered)):
            assert set(re.findall(r"\w{4,}", each)) <= held


def flat(outline):
    for one in outline:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one


def test_pages_are_numbered_of_their_total(reader):
    total = len(reader.pages)
    for i, page in enumerate(reader.pages):
        assert f"{i + 1} of {total}" in page.extract_text()


def test_cover_says_what_was_audited_and_that_it_is_a_draft(reader, audited):
    first, second = (reader.pages[place].extract_text() for place in (0, 1))
    cover = first + second
    assert "Who gets credit?" in first
    assert phrases.NOT_KNOWN in first
    assert "credit.keras" in cover
    assert "sex and job" in cover
    assert phrases.DRAFT in cover
    assert evidence.identity(audited.spec) in cover


@pytest.mark.parametrize("known", [1, 24])
def test_the_board_is_one_page_whatever_is_listed_on_it(audited, known):
    made = make_report(audited)
    first, *others = made.board.lists
    first = msgspec.structs.replace(first, items=("It fills about one line.",) * known + ("End.",))
    board = msgspec.structs.replace(made.board, lists=(first, *others))
    content = pages.pdf(msgspec.structs.replace(made, board=board))
    first, second = (page.extract_text() for page in PdfReader(io.BytesIO(content)).pages[:2])
    assert "End." in first
    assert "credit.keras" in second


def test_summary_has_the_headlines_and_the_fixed_sentence(text, audited):
    for run in audited.runs():
        assert run.found
        said = words.headline(audited.spec, run, ending_too=False)
        assert said.sentence.replace("\u00a0", " ") in text
    # once is enough: on the cover
    assert text.count(phrases.PROVE_EXISTENCE) == 1
    assert f"{phrases.STOPPED} after" in text


def test_data_and_model_are_named_with_their_fingerprints(text, audited):
    spec = audited.spec
    assert text.count(spec.data.sha256) == 2
    assert text.count(spec.model.sha256) == 2
    assert "200 rows, 7 columns" in text
    assert "Keras 3 network, saved with Keras 3.9.0" in text
    assert phrases.STARTING_POINTS.format(usable=190, total=200, unusable=10) in text


def test_settings_hold_every_parameter_of_the_paper_on_demand(audited, text):
    assert phrases.DEFAULTS in text
    whole = text_of(audited, Choice(added=("method/settings-1",)))
    for name in ("global_num", "local_num", "cluster_num", "max_iter", "decay", "update_interval"):
        assert name in whole
    # those that are not the default are there in any case
    assert f"(global_num) {FEW['global_num']}: " in text
    assert "max_iter" not in text
    assert "MAFT: Efficient Model-Agnostic Fairness Testing" in text


def test_results_hold_the_counts_of_each_run(text, audited):
    for run in audited.runs():
        assert f"Instances tested {words.number(run.tried)}, each counted once" in text
        assert f" {words.number(run.queries)} {words.state_word(run.state)}" in text
        whole = text_of(audited, Choice(added=(f"results/alone-{run.id}",)))
        for count in run.sufficient_alone:
            share = words.percent(count, run.found).replace("\u00a0", " ")
            assert f" {words.number(count)} ({share})" in whole
    assert "stopped by the auditor" in text
    assert "The auditor flagged 1 of these pairs and dismissed 1." in text


ESTIMATED = Share(
    *("domain", ("sex", "job"), 10_000, 308, False, 0.95, 0.0308),
    *(0.0275, 0.0344, 0.024, 0.038),
)
IN_DATA = Share("data", ("sex", "job"), 190, 27, True, 0.95, 27 / 190, *[27 / 190] * 4)


def test_how_common_it_is_stands_apart_from_what_a_search_found(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run = run_into(store, options=FEW, weights=UNFAIR)
        store.measure(run, (ESTIMATED, IN_DATA))
        report = make_report(store)
    # a number of pairs that stood large beside it would be taken for one of people
    (real,) = blocks_of(section_of(report, "results"), "Statement")
    assert (real.number, real.evidence) == ("14.2\u00a0%", "observed")
    assert "for 27 of 190 applicants" in real.sentence
    # that of combinations is in the table only
    _, found = blocks_of(whole_section(report, "results"), "Statement")
    assert found.evidence == "example"
    assert "3.08" not in " ".join((found.number, found.sentence, *found.details))
    texts = [each.text for each in blocks_of(section_of(report, "results"), "Text")]
    assert sum(each.startswith(found.sentence) for each in texts) == 1
    # what may be quoted of people is told at each share
    (grid,) = (
        each
        for each in blocks_of(whole_section(report, "results"), "Grid")
        if each.key.endswith("shares")
    )
    told = [tuple(cell.replace("\u00a0", " ") for cell in row) for row in grid.rows]
    assert told == [
        (
            *("Applicants in the data", "14.2 % (all tested)"),
            "Real applicants: 27 of 190",
        ),
        (
            *("Input domain", "3.08 % (95 % CI 2.75 to 3.44 %)"),
            "Combinations of allowed values, not applicants",
        ),
    ]
    assert not any(
        each.key.startswith("results/shares-")
        for each in blocks_of(section_of(report, "appendix"), "Grid")
    )


def test_how_well_a_search_works_is_no_finding(tmp_path):
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("diagnose"))
        store.measure(run, (GradientFidelity(0.01, 50, 0.86, 0.92, 0.55, 165, 90),))
        store.end_run(run, "done")
        report = make_report(store)
    section = whole_section(report, "results")
    assert not blocks_of(section, "Statement")
    drawn = [each.key for each in blocks_of(section, "Chart")]
    assert {"diagnosis-1-agreement", "diagnosis-1-found"} <= {key.split("/")[-1] for key in drawn}


def test_what_each_phase_came_to_is_listed_beside_its_time(tmp_path):
    phases = SearchPhase("seeds", 26, 1, 9, 81), SearchPhase("directed", 974, 480, 14, 81)
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("sg"))
        took = {"preliminary": 0.5, "seeds": 1.0, "directed": 2.0}
        store.add_progress(run, 4.0, Progress("directed", 1, 1, 1_000, 0, 5_000, took))
        store.measure(run, phases)
        store.end_run(run, "done")
        report = make_report(store)
    grids = [
        each
        for each in blocks_of(whole_section(report, "results"), "Grid")
        if each.key.startswith("parts-")
    ]
    (with_phases,) = grids
    assert with_phases.header == (
        *("Phase", "Instances tested", "Pairs found", "Share", "Paths", "Time"),
    )
    assert [row[1:-1] for row in with_phases.rows] == [
        ("", "", "", ""),
        ("26", "1", "3.8\u00a0%", "9"),
        ("974", "480", "49.3\u00a0%", "14"),
    ]


def test_everybody_asked_is_proof_and_no_estimate(tmp_path):
    whole = msgspec.structs.replace(ESTIMATED, exhaustive=True)
    with people_store(tmp_path, ("sex", "job")) as store:
        run = store.begin_run(RunSpec("enumerate"))
        store.measure(run, (whole,))
        store.end_run(run, "done")
        _, share, *_ = summarised(store).answers
    assert share.said.evidence == "proven"
    assert phrases.EVERY_ONE in share.said.sentence


def test_a_reference_to_a_section_that_was_dropped_is_not_made(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, options=FEW, weights=UNFAIR)
        reports = [make_report(store, each) for each in (Choice(), Choice(left_out=("results",)))]
    whole, less = (
        PdfReader(io.BytesIO(pages.pdf(each))).pages[1].extract_text() for each in reports
    )
    assert "2 Individual discrimination" in whole
    assert "2 Individual discrimination" not in less
    assert "section 0" not in words_of(reports[1])


def test_more_pairs_and_the_cost_are_shown_on_demand(audited):
    def held(report):
        places = section_of(report, "results"), section_of(report, "appendix")
        return [
            each for one in places for kind in ("Grid", "Chart") for each in blocks_of(one, kind)
        ]

    before = {each.key for each in held(make_report(audited))}
    wanted = Choice(added=("results/more", "results/cost-1"))
    after = {each.key: each for each in held(make_report(audited, wanted))}
    assert set(after) - before == {"more", "results/cost-1"}
    more = after["more"]
    shown = {pair.id for pair in gather(audited).shown}
    assert not {int(row[0].replace(",", "")) for row in more.rows} & shown


def test_ten_thousand_rule_sets_are_listed_on_demand(tmp_path):
    conditions = [(Condition("age", low=float(i)),) for i in range(10_000)]
    sets = tuple(
        RuleSet(each, "1", 0.1, 0.2, 0.3, 0.01, 0.9, 0.05, 10, 100, 100, -0.2, 0.0, 0.01, leader=0)
        for each in conditions
    )
    mined = RuleSearchSummary("1", ("age",), 0.05, 10_000, 10_000, 5_000, 0.05, 1.0)
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("testsgd"))
        store.measure(run, (mined, msgspec.structs.replace(sets[0], leader=-1), *sets[1:]))
        store.end_run(run, "done")
        report = make_report(store, Choice(added=("subtle/all-rules-1-1",)))
        usual = make_report(store)
    (grid,) = (
        each
        for each in blocks_of(section_of(report, "appendix"), "Grid")
        if each.key == "subtle/all-rules-1-1"
    )
    assert len(grid.rows) == 10_000
    longest = max(len(each.rows) for each in blocks_of(section_of(usual, "subtle"), "Grid"))
    assert longest <= 20


def test_files_are_named_without_their_folder(text, audited):
    path = Path(audited.spec.data.path)
    assert path.name in text
    assert str(path.parent) not in text.replace("\n", "")


def test_the_flagged_pair_comes_first_and_the_dismissed_one_not_at_all(text, audited):
    flagged, dismissed = (
        next(audited.each_pair(PairQuery(mark=mark))) for mark in ("flagged", "dismissed")
    )
    examples = text[text.index("2.1 Discriminatory pairs") : text.index("3 Limitations")]
    first = re.search(r"Pair (\d(?:[\d,]*\d)?)", examples)
    assert first is not None
    assert first[1] == words.number(flagged.id)
    cards = [
        each.key.rpartition("/")[2]
        for section in make_report(audited).sections
        for each in blocks_of(section, "PairCard")
    ]
    assert cards[0] == f"pair-{flagged.id}"
    assert len(cards) == SHOWN
    assert f"pair-{dismissed.id}" not in cards
    assert "Instance Counterfactual" in examples
    assert words.score(audited.spec, flagged.row_score) in examples


def test_user_text_is_never_markup(text):
    assert "Ask the vendor about #this[*one*]." in text


def test_the_log_and_the_command_that_repeats_it(text):
    assert "Marked “sex” and “job” as protected." in text
    assert "--protected sex" in text
    assert "--option global_num=30" in text
    assert "--method uniform" in text


def test_the_manifest_is_attached_and_exact(reader, audited):
    (content,) = reader.attachments["manifest.json"]
    manifest = json.loads(content)
    assert manifest["audit"] == evidence.identity(audited.spec)
    spec = json.loads(msgspec.json.encode(audited.spec))
    (names,) = (column for column in spec["columns"] if column["kind"] == "ignored")
    assert names["values"][0] == "Person 0"
    # who is who is nobody's business, and may fill books
    names["values"] = []
    assert manifest["spec"] == spec
    assert [run["found"] for run in manifest["runs"]] == [run.found for run in audited.runs()]


def test_it_is_tagged_accessible_and_made_to_last(reader):
    catalogue = reader.trailer["/Root"]
    assert catalogue["/MarkInfo"]["/Marked"]
    assert catalogue["/Lang"] == "en-GB"
    metadata = catalogue["/Metadata"].get_data().decode()
    assert "pdfuaid:part" in metadata
    assert "pdfaid:part" in metadata
    assert reader.metadata is not None
    assert reader.metadata.title == "Who gets credit?"


def test_charts_are_vectors(reader):
    assert not any(page.images for page in reader.pages)


def test_the_same_audit_gives_the_same_bytes(audited):
    assert make_pdf(audited) == make_pdf(audited)


def test_long_names_and_values_are_whole_and_inside_the_page(tmp_path):
    column, value, other = "column_" + "abcdefghij" * 19 + "_z", "v" * 200, "w" * 200
    data = tmp_path / "long.csv"
    lines = [f"{column},sex,ok"]
    lines += [f"{(value, other)[i % 2]},{'fm'[i // 2 % 2]},{i % 3 % 2}" for i in range(60)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(data)
    title = "A title of many words " * 10
    with Store.create(
        tmp_path / "a.fairdesk", spec_of(table, "ok", "1", ("sex",), title=title), table
    ) as store:
        run_into(store, options=FEW, weights=[[0.1], [2]])
        assert store.count(PairQuery())
        reader = read(store)
    joined = re.sub(r"\s+", "", set_text(reader))
    # data, model input, made from, may change, at least one pair
    assert joined.count(column) >= 5
    assert value in joined
    assert other in joined
    assert "\u200b" not in joined
    assert re.sub(r"\s", "", title) in joined
    # a word that ran over the edge would stand on one line
    words_on_lines = " ".join(page.extract_text() for page in reader.pages).split()
    assert max(map(len, words_on_lines)) < 110


def test_other_scripts_are_set_in_the_own_fonts(tmp_path):
    data = tmp_path / "scripts.csv"
    lines = ["возраст,пол,名前,ok"]
    lines += [
        f"{i % 9},{('муж', 'жен')[i % 2]},{('łódź', 'ελλ')[i // 2 % 2]},{i % 3 % 2}"
        for i in range(60)
    ]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(data)
    with Store.create(
        tmp_path / "a.fairdesk",
        spec_of(table, "ok", "1", ("пол",), title="Ünïcode \x07 #x $y$"),
        table,
    ) as store:
        run_into(store, options=FEW)
        document = pages.document(make_report(store))
    assert document.standard == "ua-1+a-3a"
    text = set_text(PdfReader(io.BytesIO(document.content)))
    assert {"возраст", "пол", "муж", "łódź", "ελλ"} <= set(re.split(r"[\s,;=]+", text))
    assert "Ünïcode \ufffd #x $y$" in text


def test_an_audit_without_runs_has_a_report(tmp_path):
    with people_store(tmp_path) as store:
        text = text_of(store)
    assert "Not run: Group metrics" in text


def test_nothing_found_tells_how_much_was_tried(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, options=FEW, weights=[[1], [0], [1], [1], [1]])
        (run,) = store.runs()
        text = text_of(store)
    assert run.found == 0
    assert f"{phrases.NO_PAIR_FOUND} {words.number(run.tried)} instances tested" in text
    assert f"{phrases.NOTHING_FOUND}." in text


def test_a_failed_run_and_a_trusted_file_are_said(tmp_path):
    with people_store(tmp_path, trusted=True) as store:
        run_into(store, options=FEW, weights=UNFAIR, state="failed", message="The model crashed.")
        text = text_of(store)
    assert "Failed after" in text
    assert "The model crashed." in text
    assert "Trusted by the auditor." in text
    assert "--trust-model" in text


def test_narrowed_values_and_what_the_command_cannot_repeat(tmp_path):
    table = read_table(write_people(tmp_path / "data.csv"))
    sex, age, job = (table.column(name) for name in ("sex", "age", "job"))
    domain = Domain(
        (
            attribute_of(age, Role.VARIES, [20, 40]),
            attribute_of(sex, Role.PROTECTED),
            attribute_of(job, Role.FIXED),
        )
    )
    spec = spec_of(table, "credit", "yes", ("sex",), domain=domain)
    run = RunSpec("maft", {}, 0, Budget(seconds=60))
    assert json.loads(evidence.domain_file(spec)) == {
        "attributes": {"age": {"low": 20, "high": 40}, "job": {"role": "fixed"}}
    }
    assert "--domain domain.json" in evidence.command(spec, run)
    said = " ".join(evidence.beyond_command(spec, run))
    assert "A limit that a command does not name" in said


def test_shown_pairs_are_unlike_each_other(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, options={"global_num": 60, "local_num": 100}, weights=UNFAIR)
        gathered = gather(store)
        total = store.count(PairQuery())
    assert sum(gathered.marks.values()) == total
    assert len(gathered.shown) == SHOWN
    keys = {pair.row[store.spec.domain.others].tobytes() for pair in gathered.shown}
    assert len(keys) == SHOWN
    (counter,) = gathered.changes[1]
    # males are favoured by the formula: code 1 gets what code 0 does not
    assert counter == {(1.0, 0.0): total}


def test_time_is_that_of_the_last_entry_that_changes_the_report(tmp_path):
    with people_store(tmp_path) as store:
        assert evidence.last_moment(store.spec, []) == datetime(2026, 11, 21, 10, tzinfo=UTC)
        run_into(store, options=FEW)
        log = store.log_entries()
        assert evidence.last_moment(store.spec, log) == evidence.moment(log[-1].at)
        passing = [*log, LogEntry("2031-01-01T00:00:00+00:00", "Exported.", "exported")]
        assert evidence.last_moment(store.spec, passing) == evidence.moment(log[-1].at)


def test_written_to_disk_or_told_why_not(audited, tmp_path):
    write_pdf(audited, tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-1.7")
    with pytest.raises(ReportError, match="does not exist"):
        write_pdf(audited, tmp_path / "nowhere" / "report.pdf")


def test_printable_leaves_plain_data_plain():
    assert printable({"a": ("x\x00", 1, None, [True, "\ty\n"])}) == {
        "a": ["x\ufffd", 1, None, [True, "\ty\n"]]
    }


@pytest.mark.parametrize("state", ["done", "stopped"])
def test_the_limits_of_a_run_are_in_its_settings_unless_it_ended_long_before(tmp_path, state):
    with people_store(tmp_path) as store:
        budget = Budget(seconds=600.0, idle=40.0)
        store.end_run(store.begin_run(RunSpec("maft", budget=budget)), state, "")
        printed = msgspec.json.encode(make_report(store).sections).decode()
    limit = "10\N{NO-BREAK SPACE}min or 40\N{NO-BREAK SPACE}s without a new pair"
    assert (limit in printed) is (state == "stopped")

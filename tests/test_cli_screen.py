"""The end of an audit on one screen, ``fairdesk show``, conditions, progress, and the help."""

import io
import json
import sys

import msgspec
import numpy as np
import pytest

from fairdesk.answers import observed
from fairdesk.app.outputs import AUDIT_FILE
from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.cli import commands, conditions, parsing, screen, summary, terminal
from fairdesk.cli import main as cli
from fairdesk.data.domain.dependencies import Companion, Move
from fairdesk.data.domain.support import Support
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import canonical
from fairdesk.document.board import board
from fairdesk.errors import DataError, SpecError
from fairdesk.groups.metrics.group_table import outcomes
from fairdesk.results.individual import ChangeSplit, ComparedRows, Share
from fairdesk.results.proofs import NeighbourhoodCounts, Proven
from fairdesk.results.subgroups import TermRate
from fairdesk.wording import words
from fairdesk.wording.groups.tables import rate_of
from tests import phrases
from tests.report.building import people_store, run_into, write_people
from tests.report.reading import text_of

ROWS = 200


def share(attributes, hits, **more):
    part = hits / ROWS
    given = {"gains": hits // 3, "losses": hits - hits // 3} | more
    return Share("data", attributes, ROWS, hits, True, 0.95, *(5 * (part,)), **given)


def counts(comparison, hits, attributes, compared=ROWS):
    found = hits // 3, hits - hits // 3
    return ComparedRows(attributes, comparison, ROWS, compared, hits, *found)


def group_tables(spec, table, women=4):
    """Return the groups' tables: of the women one in so many is selected, of the men 3 in 4."""
    (place,) = (i for i, column in enumerate(table.columns) if column.name == "sex")
    every = np.arange(ROWS)
    selected = np.where(table.codes[:, place] == 0, every % women == 0, every % 4 > 0)
    known = np.ones(ROWS, bool)
    return outcomes(spec.domain, table, selected, known, of="decisions", outcome="1")


def measure(store, method, *figures, state="done", message=""):
    run = store.begin_run(RunSpec(method))
    store.measure(run, figures)
    store.end_run(run, state, message)


def whole_audit(folder, *protected, women=4):
    """Make an audit with groups, shares, proofs and pairs."""
    with people_store(folder, protected) as store:
        measure(store, "groups", *group_tables(store.spec, store.table(), women))
        alone = [share((name,), 6 + i) for i, name in enumerate(protected)]
        together = [share(protected, 24)] if len(protected) > 1 else []
        compared = [counts("supported", 24, protected), counts("all", 60, protected)]
        split = [ChangeSplit(protected, 24, (5, 6), 1, 12)] if len(protected) == 2 else []
        measure(store, "estimate", *alone, *together, *compared, *split)
        measure(
            store,
            "neighbourhoods",
            NeighbourhoodCounts(protected, ROWS, 120, 60, 20, 1, 0.1, flipped=24, boxes=9),
        )
        if len(protected) < 3:
            run_into(store, options={"global_num": 20, "local_num": 20})
    return folder / AUDIT_FILE


def shown(path, *, everything=False):
    text = screen.screen(summary.finished_in(path), everything=everything)
    if not everything:
        assert len(text.splitlines()) <= screen.HEIGHT
        assert max(map(len, text.splitlines())) <= max(screen.WIDTH, 20 + len(str(path)))
    return text.replace(words.NBSP, " ")


def test_one_screen_has_the_figures_of_the_report(tmp_path):
    path = whole_audit(tmp_path, "sex")
    text = shown(path)
    assert text.startswith("Who gets credit?, 200 applicants, credit.keras\n")
    (women,) = [line.split() for line in text.splitlines() if line.startswith("  sex  female")]
    with Store.read(path) as store:
        report = text_of(store).replace(words.NBSP, " ")
        (records,) = (each.outcomes for each in observed(store.spec, store.table()))
        answer = board(store.spec, store.runs(), observed(store.spec, store.table())).answer
    for value in (f"{women[2]} %", women[4]):
        assert value in report
    assert women[5] == "!"
    assert answer.removeprefix("No: w").split(". ")[0] in " ".join(text.split())
    assert f"{women[6]} %" == rate_of(records[0], records[0].lines[0]).replace(words.NBSP, " ")
    assert "! below 4/5 (0.80)" in text
    assert "SAME APPLICANT, OTHER SEX: decision changes (of 200)\n" in text
    assert "  sex  6  3.0 %  4 lose, 2 gain" in text
    assert f"PROVEN     Of at least 156 applicants {phrases.NOT_CHANGED_BY} sex" in text
    assert "EXAMPLES" in text
    assert text.splitlines()[-1].startswith("Done     4 methods")


def test_the_screen_says_how_many_need_both_changes(tmp_path):
    text = shown(whole_audit(tmp_path, "sex", "job"))
    assert "24  12.0 %  16 lose, 8 gain; 12 only if both change" in text
    said = " ".join(shown(tmp_path / AUDIT_FILE, everything=True).split())
    assert "the decision changes only with sex for 5, only with job for 6, with either" in said


@pytest.mark.parametrize(
    "protected", [("sex", "job"), ("sex", "job", "age", "debts", "income")], ids=len
)
def test_many_attributes_fit_one_screen_and_are_all_in_the_long_one(tmp_path, protected):
    path = whole_audit(tmp_path, *protected)
    text, everything = shown(path), shown(path, everything=True)
    assert "  sex" in text
    for name in protected:
        assert f"\n  {name} " in everything
    together = "sex, job or both" if len(protected) == 2 else "any of these"
    assert f"  {together}  24  12.0 %" in everything or len(protected) == 1
    assert ("more attribute" in text) is (len(protected) > 2)


def test_a_low_ratio_that_chance_may_explain_has_another_sign(tmp_path):
    found = summary.finished_in(whole_audit(tmp_path, "sex"))
    assert summary.lowest_ratio(found) < 0.8
    (table,) = found.tables("decisions")
    lines = tuple(msgspec.structs.replace(each, holm=0.4) for each in table.lines)
    table = msgspec.structs.replace(table, lines=lines)
    (run, *others) = found.runs
    unsure = found._replace(runs=(msgspec.structs.replace(run, figures=(table,)), *others))
    text = screen.screen(unsure)
    assert f"~ {phrases.MAY_BE_CHANCE}" in text
    assert "! below" not in text
    assert summary.lowest_ratio(unsure) == 1.0


def test_a_share_that_the_report_does_not_quote_is_not_printed(tmp_path):
    path = whole_audit(tmp_path, "sex")
    with Store.open(path) as store:
        measure(store, "certify", Proven("domain", ("sex",), 0.8123, 0.0933, 0.0944))
    found = summary.finished_in(path)
    without = [run for run in found.runs if run.method != "neighbourhoods"]
    text = screen.screen(found._replace(runs=tuple(without)))
    assert "81.2" not in text
    assert "9.3" not in text
    assert f"PROVEN     Only of {phrases.MODEL_OF_DATA}, or of combinations of values" in text


def test_a_companion_that_is_not_confirmed_leaves_the_answer_open(tmp_path):
    path = whole_audit(tmp_path, "sex")
    found = summary.finished_in(path)
    job = next(each for each in found.spec.domain.attributes if each.name == "job")
    move = Move(1.0, 0.0, 1.0, 0.6)
    proposed = Support(proposed=(Companion(job.name, "sex", (move,)),))
    domain = msgspec.structs.replace(found.spec.domain, support=proposed)
    figures = (share(("sex",), 0), counts("proposed", 30, ("sex",)))
    run = msgspec.structs.replace(found.runs[1], figures=figures)
    text = screen.screen(
        found._replace(spec=msgspec.structs.replace(found.spec, domain=domain), runs=(run,))
    ).replace(words.NBSP, " ")
    assert "  sex  30 of 200  15.0 %  if job changes too" in text
    assert "  0 of 200" not in text


def test_rows_without_a_comparison_are_in_the_heading_of_what_is_counted(tmp_path):
    found = summary.finished_in(whole_audit(tmp_path, "sex"))
    fewer = msgspec.structs.replace(share(("sex",), 6), unsupported=4)
    run = msgspec.structs.replace(found.runs[1], figures=(fewer,))
    text = screen.screen(found._replace(runs=(run,)))
    assert "OTHER SEX: decision changes (200 of 204 comparable)" in text


def test_decisions_alone_say_what_is_not_known(tmp_path):
    path = whole_audit(tmp_path, "sex")
    found = summary.finished_in(path)
    spec = msgspec.structs.replace(found.spec, predictions="decided", title="Decisions")
    text = screen.screen(found._replace(spec=spec, runs=found.runs[:1]))
    assert screen.DECIDED[1] in text
    assert screen.DECIDED[0] not in text
    assert "SAME " not in text
    assert "NOT KNOWN  How often does the decision depend" in text
    assert phrases.NO_MODEL in " ".join(text.split())


def test_terms_in_texts_have_a_row_a_category(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measure(
            store,
            "testsgd",
            TermRate("gender", "gay", 9, 225, 0.604, 225, 76),
            TermRate("gender", "straight", 9, 225, 0.942, 225, 76),
            TermRate("age", "old", 9, 71, 0.95, 71, 0),
            TermRate("age", "young", 9, 71, 0.95, 71, 0),
        )
    lines = shown(tmp_path / AUDIT_FILE).splitlines()
    assert any(line.startswith("SAME TEXT, OTHER IDENTITY TERM: ") for line in lines)
    assert "  gender  76 of 225    favourable: 60.4 % (“gay”) to 94.2 % (“straight”)" in lines
    assert "  age       0 of 71    favourable: 95.0 % with every term" in lines


def test_what_failed_is_the_first_to_check_and_nothing_measured_is_said(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measure(store, "estimate", state="failed", message="The model is gone.")
    text = shown(tmp_path / AUDIT_FILE)
    said = " ".join(text.split())
    assert "CHECK Random-sample estimate: Failed after" in said
    assert "The model is gone." in said
    # the records are there without any method
    assert phrases.IN_THE_RECORDS in text
    assert screen.DECIDED[0] not in text
    assert "NOT KNOWN How often does the decision depend on a protected attribute?" in said


def test_show_prints_an_audit_again_by_its_file_or_its_folder(tmp_path, capsys):
    path = whole_audit(tmp_path, "sex")
    assert cli.main(["show", str(path)]) == 0
    first = capsys.readouterr().out
    assert cli.main(["show", str(tmp_path)]) == 0
    assert capsys.readouterr().out == first
    assert first == f"{shown(path)}\n"
    assert "\x1b" not in first
    assert cli.main(["show", str(tmp_path), "--verbose"]) == 0
    assert len(capsys.readouterr().out) > len(first)
    assert cli.main(["show", str(tmp_path), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert cli.main(["show", str(tmp_path / "none")]) == 1


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_has_colours_unless_they_are_not_wanted(tmp_path, monkeypatch, no_color):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    found = screen.screen(summary.finished_in(whole_audit(tmp_path, "sex")))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", out := Terminal())
    terminal.print_screen(found)
    assert ("\x1b[1;31m" in out.getvalue()) is not bool(no_color)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--fail-under", "0.8"), 4, "ratio<0.8 holds: the lowest impact ratio is 0."),
        (("--fail-under", "0.1"), 0, ""),
        (("--fail-if", "changes>2.9%"), 4, "changes>2.9% holds: the share of rows"),
        (("--fail-if", "changes > 3%"), 0, ""),
        (("--fail-if", "changes>=3%", "--fail-if", "pairs<1"), 4, "changes>=3% holds"),
        (("--fail-if", "pairs>0"), 4, "pairs>0 holds: the number of discriminatory pairs"),
    ],
)
def test_a_condition_decides_the_exit_code(tmp_path, capsys, given, code, said):
    whole_audit(tmp_path, "sex")
    assert cli.main(["show", str(tmp_path), *given]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert bool(err) is bool(code)
    # the results are printed all the same
    assert "SELECTED" in out


def test_a_condition_on_what_was_not_measured_is_no_success(tmp_path, capsys):
    with people_store(tmp_path, ("sex",)):
        pass
    for text in ("ratio<0.8", "changes>5%", "pairs>0"):
        assert cli.main(["show", "-q", str(tmp_path), "--fail-if", text]) == 3
        assert f"{text} cannot be checked" in capsys.readouterr().err
    # what holds comes first
    whole = tmp_path / "whole"
    whole.mkdir()
    path = whole_audit(whole, "sex")
    found = summary.finished_in(path)
    without = found._replace(runs=found.runs[:1])
    both = [conditions.condition(each) for each in ("changes>5%", "ratio<0.8")]
    assert conditions.check(without, both) == 4
    assert conditions.check(without, both[:1]) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ratoi<0.8", "Did you mean “ratio”?"),
        ("zzz<0.8", "The figures are: ratio, changes, pairs"),
        ("ratio<80%", "“80%” does not fit “ratio”"),
        ("ratio<2.5", "“2.5” does not fit “ratio”"),
        ("changes>5", "“5” does not fit “changes”"),
        ("pairs>0.5", "“0.5” does not fit “pairs”"),
        ("ratio=0.8", "is not a condition like ratio<0.8"),
        ("ratio<", "is not a condition like"),
        ("0.8", "is not a condition like"),
    ],
)
def test_a_condition_is_read_strictly(capsys, text, said):
    with pytest.raises(SystemExit) as caught:
        cli.main(["show", "audit", "--fail-if", text])
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # the option is named, not what is missing besides
        (["audit", "--datta", "x"], "no option --datta. Did you mean “--data”?"),
        (["show", "a", "--verbos"], "Did you mean “--verbose”?"),
        (["--versoin"], "Did you mean “--version”?"),
        (["adit"], "Did you mean “audit”?"),
        (["methods", "mafft"], "Did you mean “maft”?"),
        (["report", "a", "--template", "annexiv"], "Did you mean “annex-iv”?"),
        (["methods", "zzz"], "Choose from quick, maft"),
    ],
)
def test_a_name_that_is_nearly_right_is_asked_for(capsys, line, said):
    with pytest.raises(SystemExit) as caught:
        cli.main(line)
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_progress_is_said_now_and_then_without_a_terminal(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(terminal, "SILENT", 10.0)
    state = RunState(1, "maft", "running", "global", 40, 100, 50, 3, 90)
    with terminal.progress_bar() as show:
        show(state)
        # a command of seconds says nothing
        assert capsys.readouterr().err == ""
        for clock[0] in (12.0, 13.0, 41.9, 43.0):
            show(state)
        first, later = capsys.readouterr().err.replace(words.NBSP, " ").splitlines()
        assert first == f"fairdesk: after 12 s: {phrases.MAFT}"
        assert later.startswith(f"fairdesk: after 43 s: {phrases.MAFT}: ")
        assert "40 %, 3 pairs in 50 instances tested" in later
        show(msgspec.structs.replace(state, id=2, method="groups"))
        assert "Group metrics" in capsys.readouterr().err
        ended = msgspec.structs.replace(state, state="done", phase="global")
        show(ended)
        # between two runs nothing is written yet
        assert capsys.readouterr().err == ""
        for name in ("report.pdf", "groups.csv"):
            show(msgspec.structs.replace(ended, phase=f"writing {name}"))
        assert capsys.readouterr().err.count("writing the files") == 1
    with terminal.progress_bar(quiet=True) as show:
        clock[0] = 99.0
        show(state)
    assert capsys.readouterr().err == ""


def test_json_is_pretty_or_lines(tmp_path, capsys):
    assert cli.main(["methods", "--json"]) == 0
    plain = capsys.readouterr().out
    assert plain.count("\n") == 1
    assert cli.main(["methods", "--json=pretty"]) == 0
    pretty = capsys.readouterr().out
    assert json.loads(pretty) == json.loads(plain)
    assert '\n  "methods": [' in pretty
    assert cli.main(["methods", "--json=lines"]) == 0
    _, *lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert lines == json.loads(plain)["methods"]
    # a value is joined, so that it is never taken for the audit
    whole_audit(tmp_path, "sex")
    line = ["report", "--list-parts", "--json", str(tmp_path / AUDIT_FILE)]
    assert cli.main(line) == 0
    assert json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit):
        cli.main(["methods", "--json=prety"])
    assert "Did you mean “pretty”?" in capsys.readouterr().err


@pytest.mark.parametrize("name", [each for each in parsing.texts() if each != "options"])
def test_the_help_of_each_command_is_at_most_60_lines_with_groups_and_examples(name, capsys):
    line = [] if name == "fairdesk" else [name]
    texts = []
    for option in ("--help", "--help-all"):
        if option == "--help" or "more" in parsing.texts()[name]:
            with pytest.raises(SystemExit) as caught:
                cli.main([*line, option])
            assert caught.value.code == 0
            texts.append(capsys.readouterr().out)
    short, whole = texts[0], texts[-1]
    assert len(short.splitlines()) <= parsing.MOST_LINES
    assert max(map(len, (*short.splitlines(), *whole.splitlines()))) <= parsing.WIDTH
    if name != "open":
        assert "\nexamples:\n" in short
    # no option is in neither, and none is there that there is not
    parser = command_parser(name)
    for option in parser.taken:
        assert option in short or not option.startswith("--")
        _, text, _ = parsing.option_text(name, option)
        assert "".join(text.split("<")[0].split()) in "".join(whole.split())
    about = parsing.texts()[name]
    named = {
        each for _, *names in (*about.get("groups", ()), *about.get("more", ())) for each in names
    }
    assert named <= {*parser.taken, *(parsing.texts() if name == "fairdesk" else ())}


def command_parser(name):
    parser = commands.parser()
    (under,) = (each for each in parser._actions if each.dest == "command")
    return parser if name == "fairdesk" else under.choices[name]


def test_nothing_is_said_of_options_that_there_are_not():
    there = set()
    for name in parsing.texts():
        if name != "options":
            for option in command_parser(name).taken:
                own = f"{name} {option}"
                there.add(own if own in parsing.texts()["options"] else option)
    assert set(parsing.texts()["options"]) == there


def test_a_column_a_value_and_an_option_that_are_nearly_right_are_asked_for(tmp_path):
    table = read_table(write_people(tmp_path / "people.csv"))
    with pytest.raises(DataError, match="Did you mean “income”"):
        table.index("incme")
    with pytest.raises(DataError, match="age, sex, job"):
        table.index("zzz")
    with pytest.raises(SpecError, match="Did you mean “global_num”"):
        parse_options("maft", {"globl_num": "3"})
    with pytest.raises(SpecError, match="Did you mean “themis”"):
        method_named("themsi")
    with pytest.raises(SpecError, match=rf"Did you mean “yes”\? {phrases.ITS_VALUES}"):
        canonical(table, "credit", "yess")

"""What a mitigation tells, composed once for window, report and terminal."""

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.document import mitigation
from fairdesk.document.blocks import Chart, Facts, Grid, Statement, Text
from fairdesk.results.trials import improved, trials_of
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from tests import phrases
from tests.report import repairs
from tests.report.building import people_store


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("mitigation"), ("sex", "job")) as store:
        return store.spec


def run_of(figures, state="done", **fields):
    return RunState(2, "repair-aequitas", state, figures=figures, **fields)


def plain(text):
    return text.replace("\u00a0", " ")


def tables(figures, number=4):
    return mitigation.before_after(run_of(figures), number)


def test_a_mitigation_says_what_came_of_it_first_and_how_it_was_made_last(spec):
    blocks = mitigation.compose(spec, run_of(repairs.FIGURES))
    kinds = [(type(each), getattr(each, "appended", False)) for each in blocks]
    assert kinds[:2] == [(Statement, False), (Chart, False)]
    assert [kind for kind, moves in kinds if moves] == [Grid, Grid, Facts, Text, Text, Text]
    keys = [each.key for each in blocks if isinstance(each, Chart | Grid)]
    names = ("models", "after-observed", "groups-observed", "after-estimated", "trials")
    assert keys == [f"{each}-2" for each in names]
    # where none was chosen, none is set beside the original model
    none = mitigation.compose(spec, run_of(repairs.HELPLESS_FIGURES))
    assert [each.key for each in none if isinstance(each, Grid)] == ["trials-2"]


def test_the_statement_says_in_a_sentence_whether_it_helped_and_then_by_how_much(spec):
    said = mitigation_words.headline(spec, repairs.FIGURES)
    block = mitigation.statement(spec, run_of(repairs.FIGURES, message="Out of time."))
    more, message = block.details
    assert (block.number, block.evidence, message) == (said.value, "observed", "Out of time.")
    assert f"{block.sentence} {more}" == said.sentence
    assert block.sentence.count(". ") == 0
    # what got worse is not left for the small print
    assert (
        phrases.NOT_AN_IMPROVEMENT
        in mitigation.statement(spec, run_of(repairs.HARMFUL_FIGURES)).sentence
    )
    assert mitigation.statement(spec, run_of(())).sentence == phrases.NOTHING_REPAIRED


def test_the_chart_has_every_measured_model_and_marks_the_chosen_one():
    (chart,) = mitigation.models(run_of(repairs.FIGURES))
    assert chart.drawing.numbers == tuple(range(8))
    assert plain(chart.drawing.bars[4].name) == "529 rows added, chosen"
    assert chart.drawing.heading == "Decision changes, test rows"
    heads, rows = chart.drawing.table()
    assert (heads, plain(rows[0][1])) == (
        ("Model", "Decision changes, test rows"),
        "2.15 % (1.78 to 2.52)",
    )
    assert len(chart.drawing.table(3)[1]) == 3
    assert "; 529 rows added, chosen: 1.01 % (" in plain(chart.alt)
    # one model compares nothing, and a model that cannot be retrained has no others
    assert mitigation.models(run_of(repairs.FIGURES[:2])) == []
    (gap,) = mitigation.models(run_of(repairs.RULE_FIGURES))
    assert gap.evidence == "estimated"


def test_all_models_are_listed_with_what_came_of_each():
    (grid,) = mitigation.candidates(run_of(repairs.FIGURES))
    assert grid.header[2] == "Decision changes, test rows"
    assert [plain(row[0]) for row in grid.rows] == [
        *("Original model", "Retrained baseline", "149 rows added (0.83 %)"),
        *("247 rows added (1.4 %)", "529 rows added (2.9 %)", "1,102 rows added (6.1 %)"),
        *("2,106 rows added (11.7 %)", "Reweighing", "Correlation remover"),
    ]
    assert [row[4] for row in grid.rows] == [
        *("as audited", "no significant difference", "no significant difference", "better"),
        *("chosen: better", "better; too inaccurate", "better", "worse", "no model"),
    ]
    assert mitigation.candidates(run_of(repairs.ROWS_ONLY_FIGURES)) == []
    assert mitigation.candidates(run_of(())) == []


def test_a_model_is_set_beside_the_original_one_by_how_each_figure_is_known():
    observed, groups, estimated = tables(repairs.FIGURES)
    assert [each.evidence for each in (observed, groups, estimated)] == [
        *("observed", "observed", "estimated")
    ]
    assert [each.appended for each in (observed, groups, estimated)] == [False, True, False]
    assert [plain(each) for each in observed.header] == [
        *("Measure", "Original model", "Retrained baseline", "529 rows added"),
        *("Change from original", "Change from baseline"),
    ]
    assert [row[0] for row in observed.rows] == [
        *("Accuracy", "Ranking quality (AUC)", "Decision changes, test rows")
    ]
    assert [plain(cell) for cell in observed.rows[0][1:]] == [
        *("84.6 % (83.7 to 85.5)", "84.7 % (83.7 to 85.6)", "84.3 % (83.4 to 85.2)"),
        *("−0.3 (−1.1 to 0.5)", "−0.3 (−1.1 to 0.4)"),
    ]
    # an interval stays on one line
    assert "(83.7\u00a0to\u00a085.5)" in observed.rows[0][1]
    assert {row[0] for row in groups.rows} >= {"Impact ratio, sex", "Impact ratio, job"}
    assert len(estimated.rows) == 1
    # what is certified is told apart, and validation rows are none of the result
    assert sum(len(each.rows) for each in (observed, groups, estimated)) == 10
    assert tables((), 0) == []


def test_columns_that_would_be_empty_are_left_out():
    (original, *_), (baseline, *_) = (tables(repairs.FIGURES, each) for each in (0, 1))
    assert original.header == ("Measure", "Original model", "Retrained baseline")
    assert baseline.header == (*original.header, "Change from original")
    assert all(len(row) == len(each.header) for each in (original, baseline) for row in each.rows)
    (only, *_) = tables(repairs.ROWS_ONLY_FIGURES, 0)
    assert only.header == ("Measure", "Original model")


def test_without_a_retrained_baseline_there_is_no_change_from_it(spec):
    trials = trials_of(repairs.FIGURES)
    broken = msgspec.structs.replace(trials[1], measures=(), changes=(), failed="It diverged.")
    kept = [each for each in trials[4].changes if each.against == 0]
    chosen = msgspec.structs.replace(trials[4], changes=tuple(kept))
    measured = (repairs.REPAIR, trials[0], broken, *trials[2:4], chosen, *trials[5:])
    grid = tables(measured)[0]
    assert [plain(each) for each in grid.header] == [
        *("Measure", "Original model", "529 rows added", "Change from original")
    ]
    assert plain(grid.rows[0][3]) == plain(trial_words.change_text(kept[0], unit=False))
    assert improved(measured)
    assert "1.01 %" in plain(mitigation_words.headline(spec, measured).sentence)


def test_a_measure_whose_change_has_an_interval_of_half_the_scale_is_left_out():
    trials = trials_of(repairs.FIGURES)
    wide = [
        msgspec.structs.replace(each, low=-0.25, high=0.25) if each.what == "error_gap" else each
        for each in trials[4].changes
    ]
    chosen = msgspec.structs.replace(trials[4], changes=tuple(wide))
    measured = (repairs.REPAIR, *trials[:4], chosen, *trials[5:])
    rows, left = (tables(each)[1].rows for each in (repairs.FIGURES, measured))
    assert left == tuple(row for row in rows if "false positive rate" not in row[0])
    assert len(rows) - len(left) == 2


def test_the_target_is_a_subgroup_or_pairs_of_runs(spec):
    asked = ({}, {"flagged": True}, {"pairs_of": (1,)}, {"pairs_of": (1, 3)})
    told = [mitigation.target(spec, RunSpec("repair-aequitas", **each)) for each in asked]
    assert len(set(told)) == len(asked)
    assert told[3].endswith("runs 1 and 3")

"""The answers to an audit's questions: of several runs the best evidence, the others named."""

import msgspec
import numpy as np
import pytest

from fairdesk.answers import (
    Observed,
    Question,
    best_run,
    clearest,
    opposite,
    pairs_found,
    pooled,
    searches,
)
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import PairQuery, RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.columns.rereading import retype
from fairdesk.data.domain.attributes import Role
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.document.answers import answers, headline
from fairdesk.document.pairs import reverse_sentence, statement
from fairdesk.results.events import Found
from fairdesk.results.individual import ExcessChange
from fairdesk.wording.proofs import population_note
from tests import phrases
from tests.plausible import scored
from tests.report import repairs
from tests.report.building import people_store, spec_of
from tests.wording.test_about_groups import BLACK, MINED, RULE, TABLE
from tests.wording.test_figures import EXACT, PROVEN, SHARE, plain
from tests.wording.test_neighbourhoods import FOUND as AROUND

replace = msgspec.structs.replace
BOTH = replace(SHARE, attributes=("sex", "job"))
ROWS = replace(BOTH, whom="data", n_samples=200, hits=3, estimate=0.015, exhaustive=True)
LARGER = replace(BOTH, n_samples=200_000, hits=8_000, estimate=0.04, low=0.039, high=0.041)
COUNTED = replace(BOTH, exhaustive=True, n_samples=5_000, hits=200, estimate=0.04)
MOVED = replace(BOTH, whom="perturbed", n_samples=900_000)
LABELS = replace(TABLE, of="label")


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("answers"), ("sex", "job")) as store:
        return store.spec


def run(number, method, *figures, max_distance=None, tried=0, found=0, sufficient_alone=(0, 0)):
    plan = RunSpec(method, max_distance=max_distance)
    return RunRecord(
        number,
        plan,
        "done",
        "",
        "",
        "",
        1.0,
        tried,
        found,
        2 * tried,
        {},
        sufficient_alone,
        0,
        figures,
    )


def answered(spec, question, *runs, seen=(), pair=None):
    """Return the one answer to a question."""
    (answer,) = [each for each in answers(spec, runs, seen, pair) if each.question is question]
    return answer


def seen(*tables):
    return (Observed("Data rows", "Counted.", tables),)


def test_what_is_not_answered_says_what_would_answer_it(spec):
    found = answers(spec, ())
    assert [each.question for each in found] == list(Question)
    for each in found:
        assert not each.known
        assert (each.evidence, each.said.value, each.run, each.chart) == ("", "", None, None)
        assert each.said.sentence == each.question.missing
    assert len({each.said.sentence for each in found}) == len(Question)


def test_what_no_method_can_answer_here_says_why_instead(spec):
    blind = replace(spec, domain=replace_obstacle(spec.domain))
    answer = answered(blind, Question.SHARE)
    assert not answer.known
    assert answer.said.sentence != Question.SHARE.missing
    assert blind.domain.obstacle
    assert blind.domain.obstacle in answer.said.sentence


def replace_obstacle(domain):
    """Return the domain with protected attributes that the model is not given only."""
    given = [each for at, each in enumerate(domain.attributes) if at not in domain.protected]
    unseen = [domain.attributes[at] for at in domain.protected]
    return type(domain)(tuple(given), unseen=tuple(unseen))


def test_a_run_that_measured_nothing_answers_nothing(spec):
    runs = [
        run(number, method)
        for number, method in enumerate(
            ("estimate", "maft", "certify", "testsgd", "groups", "repair-aequitas"), 1
        )
    ]
    assert not any(each.known for each in answers(spec, runs))


@pytest.mark.parametrize(
    ("first", "second", "best"),
    [
        # the rows of the data, each tested, before an estimate of the domain, in either order
        (ROWS, LARGER, ROWS),
        (LARGER, ROWS, ROWS),
        # of estimates of one thing that of the larger sample, whichever is newer
        (LARGER, BOTH, LARGER),
        (BOTH, LARGER, LARGER),
        # all before a sample, however large
        (COUNTED, LARGER, COUNTED),
        (LARGER, COUNTED, COUNTED),
        # what was counted but not repeatable is not exact
        (COUNTED, replace(COUNTED, wavered=3, n_samples=9_000), COUNTED),
        # of all attributes together before of one alone
        (BOTH, replace(LARGER, attributes=("sex",)), BOTH),
        # perturbed rows are neither the data nor the domain
        (MOVED, BOTH, BOTH),
        (BOTH, MOVED, BOTH),
        # of equal ones the newer
        (BOTH, replace(BOTH, hits=3_801, estimate=0.03801), None),
    ],
)
def test_of_several_shares_the_best_evidence_answers_and_the_others_are_named(
    spec, first, second, best
):
    answer = answered(spec, Question.SHARE, run(1, "estimate", first), run(2, "estimate", second))
    wanted = 1 if best is first else 2
    alone = answered(spec, Question.SHARE, run(1, "estimate", (second, first)[wanted == 1]))
    assert (answer.run, answer.others) == (wanted, (3 - wanted,))
    assert answer.said == alone.said
    assert answer.chart is not None


def test_a_page_shows_the_run_with_the_best_evidence_not_the_newest(spec):
    found = run(1, "maft", tried=900, found=400)
    near = run(2, "maft", max_distance=0.1, tried=90, found=40)
    newest = run(3, "uniform", tried=3000, found=8)
    assert best_run(Question.EXAMPLE, (found, newest)) is found
    # pairs near the data are the realistic ones, if there are any
    assert best_run(Question.EXAMPLE, (found, near, newest)) is near
    assert best_run(Question.EXAMPLE, (found, replace(near, found=0), newest)) is found
    exact, sampled = run(4, "enumerate", ROWS), run(5, "estimate", LARGER)
    assert best_run(Question.SHARE, (exact, sampled)) is exact
    # the same share comes with others from a run that estimates
    both = run(5, "estimate", ROWS, LARGER)
    assert best_run(Question.SHARE, (both, run(6, "certify", ROWS))) is both
    worse = replace(PROVEN, undecided=0.5, certified=0.431)
    proven, less = run(6, "certify", PROVEN), run(7, "certify", worse)
    assert best_run(Question.CERTAIN, (proven, less)) is proven
    # one that measured nothing replaces none that did
    tables = run(8, "groups", TABLE)
    assert best_run(Question.GROUPS, (tables, run(9, "groups"))) is tables
    assert best_run(Question.MITIGATION, (found, tables)) is None
    assert pairs_found((found, near, newest)) == 448
    assert searches((found, sampled, newest)) == (found, newest)


def test_the_headline_counts_individuals_in_the_data(spec):
    def told(*runs):
        return headline(spec, runs, answers(spec, runs))

    assert told().value == ""
    shown = told(run(1, "estimate", LARGER, ROWS))
    assert plain(shown.value) == "3 of 200 applicants, 1.50 %"
    assert shown.evidence == "observed"
    assert shown.sentence == answered(spec, Question.SHARE, run(1, "estimate", ROWS)).said.sentence
    # without them the best that there is
    assert (
        told(run(1, "estimate", LARGER)).value
        == answered(spec, Question.SHARE, run(1, "estimate", LARGER)).said.value
    )
    assert told(run(1, "groups", TABLE)).evidence == "observed"


def test_beside_the_rows_of_the_data_no_share_of_combinations_is_told(spec):
    answer = answered(
        spec, Question.SHARE, run(1, "estimate", LARGER, BOTH, ROWS), run(2, "estimate", MOVED)
    )
    assert (answer.evidence, plain(answer.said.value)) == ("observed", "1.5 %")
    assert answer.details == ()
    assert plain(answer.chart.alt()) == "Bars of shares. Any change: 1.5 %."
    alone = replace(ROWS, attributes=ROWS.attributes[:1], hits=1, estimate=0.005)
    parted = answered(spec, Question.SHARE, run(1, "estimate", LARGER, ROWS, alone))
    assert f"; {ROWS.attributes[0]} alone: 0.50 %." in plain(parted.chart.alt())
    # without them the domain answers
    assert "4.0" in plain(answered(spec, Question.SHARE, run(1, "estimate", LARGER)).said.value)
    # perturbed rows answer only where nothing else does
    only = answered(spec, Question.SHARE, run(2, "estimate", MOVED))
    assert only.run == 2
    assert "perturbed" in only.said.label


def test_runs_that_were_kept_near_the_data_never_speak_for_the_domain(spec):
    near = run(1, "estimate", replace(LARGER, n_samples=10_000_000), max_distance=0.1)
    assert not answered(spec, Question.SHARE, near).known
    counted = run(2, "enumerate", COUNTED, max_distance=0.1)
    assert not answered(spec, Question.CERTAIN, counted).known
    whole = run(3, "estimate", BOTH)
    assert answered(spec, Question.SHARE, near, counted, whole).run == 3
    assert answered(spec, Question.CERTAIN, counted, run(4, "enumerate", COUNTED)).run == 4


def test_of_a_model_that_is_not_repeatable_the_newest_bound_answers(spec):
    excess = ExcessChange("domain", ("sex", "job"), 900, 0.05, 0.01, 0.04, 0.0213, 0.06, 0.95)
    newer = replace(excess, low=0.03)
    runs = (run(1, "repeats", excess), run(2, "repeats", newer))
    answer = answered(spec, Question.SHARE, *runs)
    assert (answer.run, answer.others, plain(answer.said.value)) == (2, (1,), "At least 3.00 %")
    assert answered(spec, Question.SHARE, *runs, run(3, "estimate", BOTH)).run == 3


def test_groups_are_compared_by_the_models_decisions_before_the_recorded_outcomes(spec):
    of_data = seen(replace(LABELS, lines=(TABLE.lines[0], replace(BLACK, impact_ratio=0.5))))
    without = answered(spec, Question.GROUPS, seen=of_data)
    assert (without.run, without.evidence, without.said.value) == (None, "observed", "0.50")
    assert without.known
    assert without.details[-1].endswith(phrases.NOT_MEASURED_YET)
    runs = (run(1, "groups", TABLE), run(2, "groups", TABLE, LABELS))
    answer = answered(spec, Question.GROUPS, *runs, seen=of_data)
    assert (answer.run, answer.others, answer.said.value) == (2, (1,), "0.67")
    _, line = answer.details
    assert line.startswith("In the recorded outcomes, the ")
    assert line.endswith(" is 0.50.")
    none = answered(spec, Question.GROUPS, seen=seen(replace(TABLE, lines=TABLE.lines[:1])))
    assert not none.said.value


def test_predictions_alone_have_the_question_of_groups_only(spec):
    column = replace(spec, predictions="decided")
    shares = run(1, "estimate", BOTH)
    (answer,) = answers(column, (shares,), seen(replace(TABLE, outcome="1")))
    assert (answer.question, answer.said.value) == (Question.GROUPS, "0.67")
    # there is no model of which anything could be measured
    assert len(answer.details) == 1


def test_certain_is_what_leaves_least_undecided(spec):
    rough = replace(PROVEN, certified=0.5, falsified=0.1, undecided=0.4)
    fine = replace(PROVEN, certified=0.6, falsified=0.3, undecided=0.1)
    runs = (run(1, "certify", fine), run(2, "fairify", rough), run(3, "estimate", BOTH))
    answer = answered(spec, Question.CERTAIN, *runs)
    assert (answer.run, answer.others, answer.evidence) == (1, (2,), "proven")
    assert plain(answer.said.value) == "At least 60.00 %"
    (rest,) = map(plain, answer.details)
    assert "41.0 %" in rest
    # what is proven of a model of the data comes first
    of_people = replace(fine, of="people", certified=0.7, falsified=0.2, undecided=0.1)
    modelled = answered(spec, Question.CERTAIN, run(1, "certify", fine, of_people, ROWS))
    assert plain(modelled.said.value) == "At least 20.00 %"
    assert phrases.PROVABLY_SAME in modelled.said.sentence
    # a share of combinations beside it would be read as one of people
    assert modelled.details == (population_note(spec),)
    assert f"applicants {phrases.NOT_IN_THE_DATA}" in population_note(spec)
    # the chart draws what the number is of, so that all answers stay on one page
    assert "70.00" in modelled.chart.alt()
    assert "60.00" not in modelled.chart.alt()
    # of equal ones the newer, and a certificate of all before any
    assert answered(spec, Question.CERTAIN, *runs, run(4, "certify", fine)).run == 4
    whole = answered(spec, Question.CERTAIN, run(5, "fairquant", EXACT), *runs)
    assert (whole.run, whole.said.value) == (5, "Exactly 17")


def test_what_is_certain_of_people_comes_before_what_is_certain_of_a_model_of_the_data(spec):
    of_people = replace(PROVEN, of="people", certified=0.7, falsified=0.2, undecided=0.1)
    decided = replace(AROUND, falsified=690, undecided=0)
    around, proof = run(1, "neighbourhoods", decided), run(2, "certify", PROVEN, of_people)
    answer = answered(spec, Question.CERTAIN, around, proof)
    assert (answer.run, answer.others, answer.said.value) == (1, (2,), "4,310 of 5,000 applicants")
    assert len(answer.chart.bars) == 1
    # with many undecided it says less than the other
    rough = run(1, "neighbourhoods", replace(AROUND, certified=10, undecided=4_578))
    assert answered(spec, Question.CERTAIN, rough, proof).run == 2
    assert answered(spec, Question.CERTAIN, rough).run == 1


def test_an_exhaustive_count_of_the_domain_is_certain_where_nothing_was_certified(spec):
    counted = run(1, "enumerate", COUNTED, tried=5_000, found=200)
    answer = answered(spec, Question.CERTAIN, counted, run(2, "estimate", LARGER))
    assert (answer.run, answer.evidence, plain(answer.said.value)) == (1, "proven", "4.00 %")
    proven = answered(spec, Question.CERTAIN, counted, run(2, "certify", PROVEN))
    assert proven.run == 2
    for less in (LARGER, ROWS, replace(COUNTED, wavered=1)):
        assert not answered(spec, Question.CERTAIN, run(1, "enumerate", less)).known


def test_subgroups_by_rules_come_before_other_methods_and_the_newest_mitigation_answers(spec):
    plain_groups = run(3, "testsgd", TABLE)
    ruled = (run(1, "testsgd", MINED, RULE), run(2, "testsgd", MINED, replace(RULE, data_in=0.5)))
    answer = answered(spec, Question.SUBGROUPS, *ruled, plain_groups, run(4, "testsgd"))
    assert (answer.run, answer.others, answer.said.value) == (2, (1, 3), "30.0")
    tried = (
        run(1, "repair-aequitas", *repairs.FIGURES),
        run(2, "repair-aequitas", *repairs.HELPLESS_FIGURES),
        run(3, "repair-aequitas"),
    )
    answer = answered(spec, Question.MITIGATION, *tried)
    assert (answer.run, answer.others, answer.said.value) == (2, (1,), "")
    assert answer.known
    first = answered(spec, Question.MITIGATION, tried[0])
    assert plain(first.said.value) == "1.01 %"


def test_the_search_that_found_most_is_counted_and_one_under_way_too(spec):
    runs = (
        run(1, "maft", tried=90, found=3, sufficient_alone=(3, 1)),
        run(2, "uniform", tried=50, found=8, sufficient_alone=(6, 4)),
        run(3, "adf"),
    )
    answer = answered(spec, Question.EXAMPLE, *runs)
    assert (answer.run, answer.others, answer.said.value) == (2, (1,), "8")
    state = RunState(4, "maft", "running", tried=10, found=9, sufficient_alone=(9, 0))
    assert answered(spec, Question.EXAMPLE, *runs, state).run == 4


PAIRS = 6
#: By pair: the codes of sex and job before and after, and how far apart the scores are.
CHANGED = (
    ((0, 0), (1, 1), 0.9),
    ((0, 0), (1, 0), 0.3),
    ((0, 1), (1, 1), 0.6),
    ((1, 0), (0, 2), 0.8),
    ((1, 1), (1, 0), 0.5),
    ((0, 2), (1, 0), 0.7),
)


@pytest.fixture
def store(tmp_path):
    """Give an audit with six pairs: 2, 3 and 5 change one attribute, the others both."""
    with people_store(tmp_path, ("sex", "job")) as made:
        domain = made.spec.domain
        rows = np.repeat(domain.people(made.table())[:1], PAIRS, axis=0)
        partners = rows.copy()
        names = [each.name for each in domain.attributes]
        places = [names.index(name) for name in ("sex", "job")]
        # pairs are told apart by what is not protected
        rows[:, names.index("age")] = partners[:, names.index("age")] = np.arange(20, 20 + PAIRS)
        for at, (before, after, _) in enumerate(CHANGED):
            rows[at, places], partners[at, places] = before, after
        apart = np.array([each[2] for each in CHANGED])[:, None]
        alone = np.ones((PAIRS, 2), bool)
        found = Found(rows, partners, 0.5 - apart / 2, 0.5 + apart / 2, alone, "global")
        number = made.begin_run(RunSpec("maft"))
        made.add(number, found)
        made.end_run(number, "done")
        yield made


def score_plausibility(store, *scores):
    some = np.zeros(PAIRS)
    store.score_plausibility(
        np.arange(1, PAIRS + 1), scored(some, some.astype(int), np.array(scores))
    )


def test_the_clearest_pair_changes_one_attribute_and_never_is_dismissed_or_hidden(store):
    # of those that change one attribute the scores of the third are farthest apart
    assert clearest(store).id == 3
    assert clearest(store, hidden=lambda pair: pair.id == 3).id == 5
    store.mark(3, "dismissed")
    assert clearest(store).id == 5
    for number in (2, 5):
        store.mark(number, "dismissed")
    assert clearest(store).id == 1
    assert clearest(store, hidden=lambda _: True) is None


def add_pair(store, row, partner, scores):
    """Add a pair as a run of its own; gives its number."""
    number = store.begin_run(RunSpec("maft"))
    one, other = (np.array([[score]]) for score in scores)
    found = Found(row[None].copy(), partner[None], one, other, np.ones((1, 2), bool), "global")
    store.add(number, found)
    store.end_run(number, "done")
    return store.pairs(PairQuery(run=number), 0, 1)[0].id


def test_the_opposite_has_the_same_values_with_the_decisions_the_other_way_round(store):
    shown = clearest(store)
    scores = shown.row_score, shown.partner_score
    assert opposite(store, shown) is None
    # another instance with the same change and the same effect
    place = next(i for i in range(len(shown.row)) if i not in store.spec.domain.protected)
    row, partner = shown.row.copy(), shown.partner.copy()
    row[place] = partner[place] = shown.row[place] + 1
    add_pair(store, row, partner, scores)
    add_pair(store, partner, row, scores[::-1])
    assert opposite(store, shown) is None
    # however the two of a pair are ordered
    for first, second, decided in ((row, partner, scores[::-1]), (partner, row, scores)):
        turned = add_pair(store, first, second, decided)
        assert opposite(store, shown).id == turned
        assert opposite(store, opposite(store, shown)) is not None
        assert opposite(store, shown, hidden=lambda pair, it=turned: pair.id == it) is None
        store.mark(turned, "dismissed")
        assert opposite(store, shown) is None


def test_an_answer_says_where_the_decisions_are_the_other_way_round(store):
    shown = clearest(store)
    turned = add_pair(store, shown.row, shown.partner, (shown.partner_score, shown.row_score))
    reverse = opposite(store, shown)
    runs = [replace(each, tried=10) for each in store.runs()]
    said, alone = (
        next(
            each
            for each in answers(store.spec, runs, pair=shown, reverse=known)
            if each.question is Question.EXAMPLE
        )
        for known in (reverse, None)
    )
    sentence = reverse_sentence(reverse)
    assert f"pair number {turned} the same two values" in sentence
    assert sentence in said.said.brief
    assert sentence in said.details
    assert "In others" not in " ".join(said.details)
    assert "In others" in " ".join(alone.details)


@pytest.mark.parametrize(
    ("gains", "losses", "by_value", "shown"),
    [
        (3, 9, (), 5),
        (9, 3, (), 3),
        (4, 4, (), 3),
        # more gain, but not of those with this instance's own value
        (9, 3, ((0.0, 1, 2), (1.0, 8, 1)), 5),
        (9, 3, ((0.0, 8, 1), (1.0, 1, 2)), 3),
    ],
)
def test_the_clearest_pair_has_the_effect_that_is_the_more_frequent_in_the_data(
    store, gains, losses, by_value, shown
):
    number = store.begin_run(RunSpec("estimate"))
    counted = replace(ROWS, attributes=("sex",), gains=gains, losses=losses, by_value=by_value)
    store.measure(number, [counted])
    store.end_run(number, "done")
    assert clearest(store).id == shown


def test_an_audit_of_texts_protects_no_attribute_and_has_no_pairs(tmp_path):
    texts = tmp_path / "texts.csv"
    lines = (f"what she wrote about us on day {day} was kind,{day % 2}" for day in range(60))
    texts.write_text("\n".join(("comment,toxic", *lines)))
    table = retype(read_table(texts), "comment", Kind.TEXT)
    with Store.create(tmp_path / "a.fairdesk", spec_of(table, "toxic", "1", ()), table) as store:
        assert not store.spec.domain.protected.size
        assert clearest(store) is None


def test_the_more_plausible_of_those_that_change_one_attribute_is_clearest(store):
    score_plausibility(store, 1.0, 0.9, 0.2, 1.0, 0.4, 1.0)
    assert clearest(store).id == 2


def test_a_row_of_the_data_is_clearer_than_one_that_was_made(store):
    nearest, usual = np.zeros(PAIRS, dtype=int), np.array([1.0, 0.9, 0.2, 1.0, 0.4, 1.0])
    away = np.array([0.1, 0.1, 0.1, 0.0, 0.1, 0.1])
    store.score_plausibility(np.arange(1, PAIRS + 1), scored(away, nearest, usual))
    assert clearest(store).id == 4


def test_a_pair_next_to_the_threshold_is_never_the_clearest_of_several(store):
    first = next(store.each_pair(PairQuery(among=(3,))))
    row, partner = first.row[None].copy(), first.partner[None]
    number = store.begin_run(RunSpec("maft"))
    alone = np.ones((1, 2), bool)
    store.add(
        number,
        Found(row, partner, np.array([[0.05]]), np.array([[0.500033]]), alone, "global"),
    )
    store.end_run(number, "done")
    usual = np.array([*[0.5] * PAIRS, 1.0])
    none = np.zeros(PAIRS + 1)
    store.score_plausibility(np.arange(1, PAIRS + 2), scored(none, none.astype(int), usual))
    # more typical than any other, and a rounding could turn its decision
    assert clearest(store).id == 3


def test_a_flagged_pair_is_shown_before_any_other(store):
    store.mark(4, "flagged")
    assert clearest(store).id == 4
    store.mark(1, "flagged")
    assert clearest(store).id == 1
    store.mark(5, "flagged")
    assert clearest(store).id == 5


def test_the_example_is_told_with_its_change_and_with_the_search_that_found_it(store):
    pair = clearest(store)
    runs = (*store.runs(), run(2, "maft", tried=90, found=60, sufficient_alone=(60, 0)))
    answer = answered(store.spec, Question.EXAMPLE, *runs, pair=pair)
    assert (answer.evidence, answer.known) == ("example", True)
    assert answer.said.value == "As female: unfavourable. As male: favourable."
    assert answer.said.label.endswith(": sex")
    assert "sex from female to male" in answer.said.sentence
    assert "pair number 3" in answer.said.sentence
    assert answer.said.sentence.count("favourable") == 2
    assert pair.distance is None
    assert "row of the data" not in answer.said.sentence
    for distance, known in (
        (0.0, f"pair number 3, {phrases.NOT_A_ROW.removeprefix('not ')})."),
        (0.1, f"pair number 3, {phrases.NOT_A_ROW})."),
    ):
        said = statement(store.spec, replace(pair, distance=distance)).sentence
        assert said.endswith(known)
    assert answer.said.label.startswith("One ")
    assert "In others the change may be the opposite" in answer.details[0]
    # all runs are counted
    assert "One of 66 pairs found" in answer.details[0]
    # bars of another run than the pair's would be read as of this one
    assert len(answer.details) == 1
    assert answer.chart is None
    own = replace(store.runs()[0], tried=9)
    only = answered(store.spec, Question.EXAMPLE, own, pair=pair).details[0]
    assert "One of 6 pairs found: examples, not a rate." in only
    # the pair is of the run that found it, whatever that was run for
    assert answer.run == pair.run == 1
    estimated = (run(1, "estimate"), *runs[1:])
    assert answered(store.spec, Question.EXAMPLE, *estimated, pair=pair).run == 1


def test_one_reason_for_several_questions_is_given_once(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        spec = store.spec
    # nothing is left that could vary, so there is nobody to compare with
    attributes = tuple(
        each if each.role is Role.PROTECTED else replace(each, role=Role.FIXED)
        for each in spec.domain.attributes
    )
    bare = replace(spec, domain=replace(spec.domain, attributes=attributes))
    assert bare.domain.obstacle
    told = answers(bare, ())
    reasons = [each.said.sentence for each in told if bare.domain.obstacle in each.said.sentence]
    assert len(reasons) == 1
    for question in (Question.EXAMPLE, Question.CERTAIN):
        assert question.title in reasons[0]
        assert question not in {each.question for each in told}


def test_a_lower_ratio_of_an_intersection_is_named_beside_that_of_one_attribute(spec):
    lower = replace(
        TABLE,
        attributes=("sex", "job"),
        lines=tuple(
            replace(line, values=(*line.values, "cook"), impact_ratio=ratio)
            for line, ratio in zip(TABLE.lines, (1.0, 0.31), strict=True)
        ),
    )
    higher = replace(lower, lines=tuple(replace(line, impact_ratio=1.0) for line in lower.lines))
    worst = min(TABLE.lines, key=lambda line: line.impact_ratio)
    assert worst.impact_ratio > 0.31
    for crossed, named in ((lower, True), (higher, False)):
        answer = answered(spec, Question.GROUPS, run(1, "groups", TABLE, crossed))
        assert answer.said.value == f"{worst.impact_ratio:.2f}"
        told = "By sex and job it is 0.31: sex = "
        against = answer.said.sentence.partition(told)[2].partition(" against sex = ")[1]
        assert bool(against) is named
        assert (told in answer.said.sentence) is (told in answer.said.brief) is named
        assert "cook" not in " ".join(answer.details)
        assert "screening rule" not in answer.said.sentence
        assert sum("screening rule" in each for each in answer.details) == 1


def test_pairs_of_several_runs_are_counted_together_and_apart(spec):
    one, other = (run(i, "maft", tried=90, found=i * 7) for i in (1, 2))
    assert pooled((one,)) == ""
    assert pooled((one, other, run(3, "maft", tried=9))) == (
        "Runs 1 and 2 together found 21 pairs. A pair found twice counts twice, one instance may "
        "be in many, and instances may be synthetic."
    )

"""What is said of groups: observed or estimated, undefined where it is."""

import msgspec
import pytest

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.results.groups import GroupGap, GroupLine, GroupTable
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import (
    Flip,
    LinearGroup,
    RuleSearchSummary,
    RuleSet,
    TermRate,
    Variant,
)
from fairdesk.wording import decisions, words
from fairdesk.wording import rules as rule_words
from fairdesk.wording.groups import columns as group_columns
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups import impact_ratio as error_words
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups import tables as table_words
from fairdesk.wording.groups import terms as term_words
from tests import phrases
from tests.groups.metrics.test_measuring import only, people, study_of
from tests.report.building import spec_of, write_people

MINED = RuleSearchSummary("1", ("sex", "job", "age"), 0.05, 1_590, 2_340, 83_000, 0.049, 1.2)
RULE = RuleSet(
    conditions=(
        Condition("age", low=40.0),
        Condition("sex", codes=(1.0,)),
        Condition("job", codes=(1.0, 2.0)),
    ),
    outcome="1",
    score=0.624,
    phi_in=0.207,
    phi_out=0.831,
    margin=0.047,
    confidence=0.9025,
    support=0.067,
    rows=412,
    n_in=1_200,
    n_out=1_300,
    low=-0.661,
    high=-0.580,
    p=1e-30,
    data_in=0.21,
    data_out=0.80,
    holds_on_data=True,
)
WHITE = GroupLine(
    values=("male",),
    codes=(1.0,),
    known=True,
    n_samples=2_445,
    share=0.5,
    favourable=236,
    rate=236 / 2_445,
    low=0.085,
    high=0.109,
    impact_ratio=1.0,
    below=False,
    flips=False,
    shortfall=-38.6,
    positives=40,
    true_positives=30,
    negatives=2_405,
    false_positives=206,
    true_positive_rate=0.75,
    false_positive_rate=206 / 2_405,
    precision=30 / 236,
    accuracy=2_229 / 2_445,
)
BLACK = GroupLine(
    values=("female",),
    codes=(0.0,),
    known=True,
    n_samples=2_435,
    share=0.49,
    favourable=157,
    rate=157 / 2_435,
    low=0.055,
    high=0.075,
    impact_ratio=0.668,
    below=True,
    flips=False,
    shortfall=39.1,
    test="Z",
    z=-4.108,
    p=0.00004,
    holm=0.00004,
    difference=-0.032,
    difference_low=-0.047,
    difference_high=-0.017,
    positives=0,
    true_positives=0,
    negatives=2_435,
    false_positives=157,
    false_positive_rate=157 / 2_435,
    precision=0.0,
    accuracy=2_278 / 2_435,
)
TABLE = GroupTable(
    of="decisions",
    outcome="yes",
    attributes=("sex",),
    n_samples=4_880,
    unknown=12,
    without=3,
    favourable=393,
    reference=0,
    lines=(WHITE, BLACK),
)


def plain(text):
    return text.replace(words.NBSP, " ")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return read_table(write_people(tmp_path_factory.mktemp("data") / "people.csv"))


@pytest.fixture
def spec(table):
    return spec_of(table, "credit", "yes", ("sex", "age", "job"))


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ((), "all rows"),
        ((Condition("sex", codes=(1.0,)),), "sex = male"),
        ((Condition("job", codes=(0.0, 1.0)),), "job = clerk or cook"),
        ((Condition("job", codes=(0.0, 1.0, 3.0)),), "job is not none"),
        ((Condition("age", low=40.0),), "age 40 and over"),
        ((Condition("age", high=29.0),), "age 29 and under"),
        ((Condition("age", low=20.0, high=39.0),), "age 20 to 39"),
        ((Condition("age", low=20.0, high=20.0),), "age = 20"),
        ((Condition("age", high=18.0),), "age = 18"),
        ((Condition("age", low=79.0),), "age = 79"),
        ((Condition("debts", high=0.0),), "debts = 0"),
        ((Condition("income", low=0.4),), "income 0.4 or more"),
        ((Condition("income", high=0.2, below=True),), "income below 0.2"),
        ((Condition("income", low=0.2, high=0.4, below=True),), "income 0.2 to below 0.4"),
        (
            (Condition("sex", codes=(1.0,)), Condition("age", low=40.0)),
            "sex = male, age 40 and over",
        ),
        (
            (Condition("gender", term="gay"), Condition("religion", term="taoist")),
            "gender: gay, religion: taoist",
        ),
    ],
)
def test_a_rule_reads_as_words(spec, conditions, said):
    assert rule_words.rule_phrase(spec, conditions) == said


def test_a_rule_knows_columns_that_the_model_is_not_given(table, spec):
    unseen = (attribute_of(table.column("job"), Role.PROTECTED),)
    seen = tuple(each for each in spec.domain.attributes if each.name != "job")
    spec = msgspec.structs.replace(spec, domain=Domain(seen, unseen=unseen))
    job = (Condition("job", codes=(1.0,)),)
    assert rule_words.rule_phrase(spec, job) == "job = cook"
    assert rule_words.rule_text(spec, job) == "“job” = cook"


def test_bins_of_fractions_leave_out_their_upper_edge_with_signs_too(spec):
    condition = Condition("income", low=0.2, high=0.4, below=True)
    assert rule_words.rule_text(spec, (condition,)) == "0.2 ≤ “income” < 0.4"
    assert (
        rule_words.rule_text(spec, (Condition("income", high=0.2, below=True),)) == "“income” < 0.2"
    )


def test_what_boxes_have_in_common_is_written_once(spec, monkeypatch):
    half = Condition("income", high=0.2, below=True)
    job = spec.domain.attributes[spec.domain.names.index("job")]
    boxes = [(half,), (half, Condition("job", codes=(job.low,))), (), (half,)]
    apart = [rule_words.rule_text(spec, box) for box in boxes]
    written, write = [], rule_words._condition
    monkeypatch.setattr(
        rule_words,
        "_condition",
        lambda attribute, condition, **how: (
            written.append(condition) or write(attribute, condition, **how)
        ),
    )
    assert list(rule_words.rule_texts(spec, boxes)) == apart
    assert written == [half, boxes[1][1]]


def test_a_rule_set_is_told_with_its_evidence(spec):
    assert plain(subgroup_words.rule_set_sentence(spec, RULE)) == (
        "age 40 and over, sex = male, job = cook or none: 21.0 % against 80.0 %"
    )
    assert plain(subgroup_words.evidence_sentence(spec, RULE, MINED)) == (
        f"59.0 percentage points lower; 412 applicants, 6.7 % of the data. In {phrases.COPIES}: "
        "62.4 percentage points lower (corrected 95 % CI 58.0 to 66.1); corrected p below 0.0001."
    )
    alone = plain(subgroup_words.evidence_sentence(spec, RULE))
    assert "(corrected 95 % CI 58.0 to 66.1); corrected p" in alone
    single = msgspec.structs.replace(MINED, rule_sets=1)
    assert "lower (95 % CI 58.0 to 66.1); p below" in plain(
        subgroup_words.evidence_sentence(spec, RULE, single)
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"holds_on_data": False, "data_in": 0.8},
            f"corrected p below 0.0001. {phrases.NOT_SHOWN_BY_ROWS}",
        ),
        (
            {"holds_on_data": None},
            f"corrected p below 0.0001. {phrases.NOT_CONFIRMED_BY_ROWS}",
        ),
        (
            {"holds_on_data": None, "data_rows": 29},
            "The data rows cannot confirm it: only 29 are on one side.",
        ),
        (
            {"data_in": None},
            "corrected p below 0.0001. The data rows cannot confirm it: one side is empty.",
        ),
        ({"low": -0.02, "high": 0.05}, "(corrected 95 % CI 2.0 lower to 5.0 higher);"),
        (
            {"phi_in": 0.9, "low": 0.01, "high": 0.1},
            "6.9 percentage points higher (corrected 95 % CI 1.0 to 10.0);",
        ),
        ({"p": 0.03}, "corrected p = 0.030."),
        ({"outcome": ""}, "0.624 lower (corrected 95 % CI 0.580 to 0.661);"),
    ],
)
def test_what_is_uncertain_of_a_rule_set_is_told(spec, changes, said):
    rule = msgspec.structs.replace(RULE, **changes)
    assert said in plain(subgroup_words.evidence_sentence(spec, rule, MINED))


def test_rates_say_what_is_counted_where_it_is_not_the_favourable_decision(spec):
    other, score = (msgspec.structs.replace(RULE, outcome=each) for each in ("0", ""))
    assert plain(subgroup_words.rates(spec, other)) == "“0” for 21.0 % against 80.0 %"
    assert plain(subgroup_words.rates(spec, score)) == "mean score 0.210 against 0.800"


def test_what_was_examined_is_told(spec):
    assert plain(subgroup_words.mined_sentence(spec, MINED)) == (
        "1,590 subgroups defined by sex, job and age were tested. Each contains at least 5 % of "
        "the data. The intervals and p-values of the table are corrected for these 1,590 tests. "
        "For this, 83,000 copies of data rows with one other value slightly changed were tested."
    )
    none = msgspec.structs.replace(MINED, rule_sets=0)
    assert plain(subgroup_words.mined_sentence(spec, none)) == (
        "No subgroup defined by sex, job and age reaches the minimum support of 5 % of the data, "
        "of 2,340 counted. A smaller minimum support may find some."
    )
    one = plain(
        subgroup_words.mined_sentence(spec, msgspec.structs.replace(MINED, rule_sets=1, samples=1))
    )
    assert one.startswith(
        "1 subgroup defined by sex, job and age was tested. It contains at least 5 % of the data. F"
    )
    assert "For this, 1 copy of a data row with one other value slightly changed was" in one
    texts = msgspec.structs.replace(MINED, attributes=("gender", "religion"), texts=640)
    assert (
        "1,590 subgroups were tested: single terms, and terms of several categories together "
        "(gender and religion). Each applies to at least 5 % of the texts with an identity term "
        "(640 texts). Intervals and p-values are corrected for these 1,590 tests. For this, 83,000 "
        "texts with one or more terms replaced were tested;"
    ) in plain(subgroup_words.mined_sentence(spec, texts))


def test_the_headline_of_a_search_is_its_widest_difference(spec):
    less = msgspec.structs.replace(RULE, score=0.1, conditions=(Condition("age", low=50.0),))
    variant = msgspec.structs.replace(RULE, score=0.9, leader=0)
    said = plain(group_words.headline(spec, (MINED, RULE, variant, less)).sentence)
    assert said == (
        "In the data, the selection rate is 21.0 % for age 40 and over, sex = male, job = cook or "
        f"none (n = 412) and 80.0 % for all others (n = 5,737). In {phrases.COPIES}, this gap is "
        "the largest of the 1,590 subgroups tested: 62.4 percentage points (corrected 95 % CI 58.0 "
        "to 66.1)."
    )
    # what stands large is what the rates beside it differ by
    found = group_words.headline(spec, (MINED, RULE))
    assert (found.evidence, found.value) == ("observed", "59.0")
    other = [msgspec.structs.replace(each, outcome="0") for each in (MINED, RULE)]
    assert (
        group_words.headline(spec, (*other, MINED, RULE)).sentence
        == group_words.headline(spec, (MINED, RULE)).sentence
    )
    chance = msgspec.structs.replace(RULE, p=0.4)
    assert group_words.headline(spec, (MINED, chance)).sentence.endswith(
        f"After correction for the number of subgroups, this is {phrases.NOT_SIGNIFICANT}."
    )
    single = msgspec.structs.replace(MINED, rule_sets=1)
    one = plain(group_words.headline(spec, (single, chance)).sentence)
    assert "copies of the data rows, the gap is 62.4 percentage points (95 % CI 58.0 to" in one
    assert "corrected" not in one.lower().replace("correction", "")
    assert one.endswith(f" This is {phrases.NOT_SIGNIFICANT}.")
    assert group_words.headline(spec, ()) is None
    nobody = msgspec.structs.replace(MINED, rule_sets=0)
    found = group_words.headline(spec, (nobody,))
    assert (found.label, found.value) == ("Subgroups tested", "0")
    assert found.sentence == subgroup_words.mined_sentence(spec, nobody)


def test_beside_a_favoured_subgroup_the_one_with_the_lowest_rate_is_named(spec):
    high = msgspec.structs.replace(
        RULE, phi_in=0.9, phi_out=0.4, score=0.5, low=0.4, high=0.6, data_in=0.8, data_out=0.4
    )
    low = msgspec.structs.replace(RULE, leader=0, conditions=(Condition("age", low=60.0),))
    # it may be due to chance, however low it is
    chance = msgspec.structs.replace(low, phi_in=0.01, p=1.0, conditions=RULE.conditions)
    said = group_words.headline(spec, (MINED, high, low, chance))
    named = "gap is that of age 60 and over (n = 412): 21.0 % against 80.0 %."
    assert plain(said.sentence).endswith(named)
    assert plain(said.brief).endswith(named)
    assert "lowest rate" not in group_words.headline(spec, (MINED, high, chance)).sentence
    assert "lowest rate" not in group_words.headline(spec, (MINED, RULE, low)).sentence


def test_each_outcome_has_its_own_rule_sets(spec):
    other = msgspec.structs.replace(MINED, outcome="0")
    second = msgspec.structs.replace(RULE, outcome="0", leader=-1)
    variant = msgspec.structs.replace(second, leader=0)
    held = dict(finding_words.mined_with((MINED, RULE, other, second, variant)))
    assert held == {MINED: (RULE,), other: (second, variant)}
    assert finding_words.leaders(held[other]) == (second,)


def test_a_subgroup_is_named_by_the_plainest_rule_with_its_gap():
    plain_rule = msgspec.structs.replace(RULE, leader=0, conditions=RULE.conditions[:1])
    assert finding_words.leaders((RULE, plain_rule)) == (plain_rule,)
    # not by one with another gap, as it is written, nor with other conditions
    less = msgspec.structs.replace(plain_rule, phi_in=plain_rule.phi_in + 0.001)
    other = msgspec.structs.replace(plain_rule, conditions=(Condition("age", low=50.0),))
    assert finding_words.leaders((RULE, less, other)) == (RULE,)


def test_terms_are_told_with_their_flips(spec):
    flip = Flip(3, "I am gay", "I am straight", "straight", 0.4, 0.6, "toxic", "fine")
    term = TermRate("gender", "gay", 31, 500, 0.412, 200, 62, (flip,))
    assert plain(term_words.term_sentence(spec, term)) == (
        "500 texts that contain a term of gender were tested with “gay” (gender) in its place: "
        "41.2 % of them receive “yes”. For 62 of 200 of these texts, the decision changes with "
        "another term of gender. 31 texts of the data contain this term itself."
    )
    once = msgspec.structs.replace(term, occurs=1)
    assert term_words.term_sentence(spec, once).endswith(
        "1 text of the data contains this term itself."
    )
    assert term_words.flip_text(flip) == "I am gay"
    long = msgspec.structs.replace(
        flip, text=f"{'a' * 500} gay {'b' * 500}", other=f"{'a' * 500} straight {'b' * 500}"
    )
    shown = term_words.flip_text(long)
    assert "a gay b" in shown
    assert shown.count("…") == 2
    assert len(shown) < 320
    never = TermRate("gender", "queer", 0, 0, 0.0, 0, 0)
    assert term_words.term_sentence(spec, never).startswith("No text could be tested with “queer”")
    other = TermRate("gender", "straight", 3, 500, 0.61, 200, 62)

    def told(*terms):
        (alike,) = term_words.by_category(terms)
        return plain(term_words.category_statement(spec, alike).sentence)

    said = told(never, other, term)
    assert plain(said).startswith("In 62 of 200 texts with a term of gender, the decision changes")
    assert plain(said).endswith("decided “yes” ranges from 41.2 % (“gay”) to 61.0 % (“straight”).")
    # nobody is taken for the only one
    alike = [msgspec.structs.replace(other, term=name) for name in ("male", "female")]
    assert told(term, other, *alike).endswith("to 61.0 % (“straight” and 2 others).")


def test_a_category_of_terms_that_all_fare_alike_is_told_so(spec):
    terms = [TermRate("age", name, 1, 50, 0.5, 50, 0) for name in ("old", "young")]
    told = term_words.category_statement(spec, terms).sentence
    assert plain(told).endswith("of age. The share decided “yes” is 50.0 % with every term.")


def test_the_category_of_terms_with_the_widest_range_comes_first():
    def term(category, name, rate):
        return TermRate(category, name, 10, 225, rate, 225, 131)

    gay, queer = term("gender", "gay", 0.72), term("gender", "queer", 0.2)
    white, black = term("race", "white", 0.56), term("race", "black", 0.87)
    old = TermRate("age", "old", 10, 0, 0.0, 0, 0)
    assert term_words.by_category((white, black, gay, queer, old)) == ((queer, gay), (white, black))


def test_linear_subgroups_and_gaps_are_told(spec):
    group = LinearGroup(
        ("sex = male", "age"),
        (1.2, -0.31),
        -0.1,
        "1",
        0.31,
        5_000,
        0.201,
        0.284,
        0.083,
        0.02,
        -0.114,
        -0.052,
    )
    assert plain(group_words.headline(spec, (group,)).sentence) == (
        "The rate of “1” in a linear subgroup is 8.3 percentage points lower (95 % CI 5.2 to 11.4) "
        "than among all others: 20.1 % against 28.4 %, measured on 5,000 applicants held out, "
        f"31.0 % of them {phrases.IN_THE_SUBGROUP}. Members score above zero: sex = male +1.20, "
        "age −0.31, constant −0.10."
    )
    small = GroupGap(("sex",), 4_000, 0.2, 0.17, 0.23, 0.95, (1.0,), (0.0,), 0.6, 0.4)
    large = msgspec.structs.replace(small, gap=0.3)
    widest = group_words.headline(spec, (small, large))
    assert (widest.evidence, widest.value) == ("estimated", "30.0")
    assert "differ by 30.0 percentage points" in widest.sentence


def test_a_table_says_the_lowest_impact_ratio_and_who_was_left_out(spec):
    worst = ratio_words.worst_statement(spec, TABLE)
    assert plain(worst.sentence) == (
        f"Women are selected (“yes”) at 67 % {phrases.OF_THE_RATE_OF} men, the reference (95 % CI "
        "55 to 81 %; p below 0.0001), below the four-fifths threshold."
    )
    assert plain(worst.brief) == (
        "6.4 % of 2,435 women are selected (“yes”), against 9.7 % of 2,445 men."
    )
    assert (worst.evidence, worst.label, worst.value) == (
        "observed",
        "Impact ratio by sex",
        "0.67",
    )
    three = msgspec.structs.replace(TABLE, lines=(*TABLE.lines, TABLE.lines[-1]))
    assert ratio_words.comparisons(TABLE) == 1
    assert ratio_words.comparisons(three) == 2
    said = ratio_words.worst_statement(spec, three).sentence
    assert "; corrected p below 0.0001)" in plain(said)
    # of which test they are is said once, after all of them
    assert ratio_words.tested((three, three)) == (words.TESTED[True],)
    assert ratio_words.tested((TABLE,)) == (words.TESTED[False],)
    assert ratio_words.tested(()) == ()
    assert [plain(each) for each in ratio_words.table_sentences(spec, TABLE)] == [
        (
            "Excluded: 12 applicants whose group is not recorded and 3 applicants (a value that "
            "the model needs is missing)."
        )
    ]
    one = msgspec.structs.replace(TABLE, unknown=1, without=0)
    assert ratio_words.table_sentences(spec, one) == (
        "Excluded: 1 applicant whose group is not recorded.",
    )
    assert group_words.headline(spec, (TABLE,)) == worst
    assert table_words.table_title(spec, TABLE) == "Model’s decision “yes”, by sex"


def test_the_headline_speaks_of_decisions_before_labels(spec):
    label = msgspec.structs.replace(TABLE, of="label")
    assert "are selected (“" in group_words.headline(spec, (label, TABLE)).sentence
    assert "are recorded “" in group_words.headline(spec, (label,)).sentence


def test_the_favourable_decision_is_named_by_the_label_and_not_by_its_number(spec):
    numbered = msgspec.structs.replace(TABLE, outcome="1")
    assert table_words.table_title(spec, numbered) == "Model’s decision “yes”, by sex"
    assert "selected (“yes”)" in group_words.headline(spec, (numbered,)).sentence
    other = msgspec.structs.replace(TABLE, outcome="0")
    assert table_words.table_title(spec, other) == "Model’s decision “0”, by sex"
    column = msgspec.structs.replace(spec, predictions="decided")
    assert table_words.table_title(column, numbered) == "Decision “1”, by sex"


def test_who_scores_above_the_median_is_not_called_favourable(spec):
    scored = msgspec.structs.replace(TABLE, of="scores")
    worst = ratio_words.worst_statement(spec, scored)
    assert worst.label == "Lowest ratio of scoring rates by sex"
    assert "a score above the median of all" in worst.sentence
    assert "Favourable" in heads(TABLE)
    assert "Above" in heads(scored)
    assert "Favourable" not in heads(scored)


def heads(table):
    return [column.head for column in group_columns.columns(table)]


def cells(line, table):
    return [column.text(table, line) for column in group_columns.columns(table)]


def test_cells_stand_under_their_heads_and_nothing_is_not_a_number(spec):
    for line in TABLE.lines:
        texts = cells(line, TABLE)
        assert len(texts) == len(heads(TABLE))
        assert not {"nan", "None", "NaN"} & {word for text in texts for word in text.split()}
    black = dict(zip(heads(TABLE), map(plain, cells(BLACK, TABLE)), strict=True))
    assert black["Impact ratio"] == "▽ 0.67"
    assert black["Ratio’s 95\u00a0% CI"] == "0.55 to 0.81"
    assert black["p"] == "< 0.0001"
    assert black[phrases.TRUE_POSITIVE_RATE] == "undefined"
    assert black["Equal opportunity"] == "undefined"
    white = dict(zip(heads(TABLE), cells(WHITE, TABLE), strict=True))
    assert white["p"] == "reference"
    # of two groups there is one test, of more each is corrected
    more = msgspec.structs.replace(TABLE, lines=(*TABLE.lines, BLACK))
    assert "Corrected p" in heads(more)
    no_labels = [
        msgspec.structs.replace(line, positives=None, negatives=None) for line in TABLE.lines
    ]
    plainer = msgspec.structs.replace(TABLE, lines=tuple(no_labels))
    assert "Accuracy" not in heads(plainer)


def test_a_ratio_has_one_mark_for_the_threshold_and_one_for_a_single_individual(spec):
    marked = [
        cells(msgspec.structs.replace(BLACK, below=below, flips=flips), TABLE)[
            heads(TABLE).index("Impact ratio")
        ]
        for below in (True, False)
        for flips in (True, False)
    ]
    assert marked == ["▽ 0.67‡", "▽ 0.67", "0.67‡", "0.67"]


def test_a_group_that_is_small_or_unknown_is_not_compared(spec):
    small = msgspec.structs.replace(BLACK, excluded=True, impact_ratio=None, below=None)
    unknown = msgspec.structs.replace(small, excluded=False, known=False)
    table = msgspec.structs.replace(TABLE, lines=(WHITE, small, unknown))
    place = heads(table).index("Impact ratio")
    assert [plain(cells(line, table)[place]) for line in table.lines] == ["1.00", "too few", "–"]
    worst = ratio_words.worst_statement(spec, table)
    assert worst.sentence.startswith(phrases.NO_TWO_GROUPS.format(attribute="sex"))
    assert not worst.value
    told = ratio_words.table_sentences(spec, table)
    assert "too small" not in " ".join(told)
    # a table of few groups shows it
    few = msgspec.structs.replace(table, lines=(WHITE, small, small))
    assert "too small" not in " ".join(ratio_words.table_sentences(spec, few))
    many = msgspec.structs.replace(table, lines=(WHITE, *[small] * 6))
    told = ratio_words.table_sentences(spec, many)
    said = "Of the 7 groups by sex, 6 are too small to compare and 1 is the reference."
    assert said in told


def test_the_groups_of_a_table_are_counted_in_parts_that_add_up(spec):
    below = msgspec.structs.replace(BLACK, below=True)
    above = msgspec.structs.replace(BLACK, below=False)
    chance, small = (
        msgspec.structs.replace(below, **changed)
        for changed in ({"holm": 0.4}, {"excluded": True, "impact_ratio": None, "below": None})
    )
    two = (
        "2 are below the four-fifths threshold, with a significant difference (corrected p below "
        "0.05: women 0.67, women 0.67)"
    )
    for lines, said in (
        ((WHITE, below, below), ""),
        (
            (WHITE, below, below, *[above] * 4),
            f"Of the 7 groups by sex, {two}, 4 are not below it and 1 is the reference.",
        ),
        (
            (WHITE, below, below, chance, above, small),
            (
                f"Of the 6 groups by sex, {two}, 1 is below it, perhaps by chance, 1 is not below "
                "it, 1 is too small to compare and 1 is the reference."
            ),
        ),
    ):
        table = msgspec.structs.replace(TABLE, lines=lines)
        told = " ".join(ratio_words.table_sentences(spec, table))
        assert said in told
        assert bool(said) == ("four-fifths" in told)
        # a score above the median is no decision, which the threshold is about
        scores = msgspec.structs.replace(table, of="scores", median=0.5)
        assert "four-fifths" not in " ".join(ratio_words.table_sentences(spec, scores))


def test_each_figure_shows_its_formula_with_its_numbers(spec):
    def shown(name, line=BLACK):
        return plain(group_columns.formula(spec, TABLE, line, name))

    assert shown("Rate") == "Rate = favourable / members = 157 / 2,435 = 6.45 %"
    assert shown("Impact ratio") == (
        "Impact ratio = rate / rate of the reference group = 6.45 % / 9.65 % (sex = male) "
        "= (157 / 2,435) / (236 / 2,445) = 0.6680; below 4/5 = 0.8 (29 CFR 1607.4(D)); one "
        "selected more or fewer would not change that"
    )
    assert shown(phrases.TRUE_POSITIVE_RATE) == (
        f"{phrases.TRUE_POSITIVE_RATE} = decided favourably / members with the favourable recorded "
        "outcome = 0 / 0: undefined, because no member has the favourable recorded outcome."
    )
    assert shown("Precision", WHITE).endswith("= 30 / 236 = 12.7 %")
    assert shown("Accuracy", WHITE).endswith("= 2,229 / 2,445 = 91.2 %")
    assert shown("Shortfall") == (
        "Shortfall = members × rate of all − favourable = 2,435 × 393 / 4,880 − 157 = 39.1"
    )
    assert "157 of 2,435; of the reference (sex = male) 236 of 2,445" in shown("p")
    assert shown("sex") == ""
    for name in heads(TABLE):
        for line in TABLE.lines:
            assert shown(name, line)


JUDGED = msgspec.structs.replace(
    TABLE,
    lines=(
        msgspec.structs.replace(
            WHITE, positives=100, true_positives=98, negatives=50, false_positives=28
        ),
        msgspec.structs.replace(
            BLACK, positives=80, true_positives=76, negatives=40, false_positives=8
        ),
    ),
)


def test_the_error_rate_that_differs_most_is_told_be_it_true_or_false_positives(spec):
    gap = error_words.error_gap(JUDGED)
    assert (gap.what, gap.counts, gap.reference) == ("false", (8, 40), (28, 50))
    said = error_words.errors_statement(spec, JUDGED)
    assert plain(said.value) == "36.0"
    assert plain(said.sentence) == (
        f"Women not recorded “{spec.favourable}” are selected 36.0 percentage points less often "
        f"than such men (95 % CI 15.9 to 52.0). Women recorded “{spec.favourable}” are selected "
        "3.0 percentage points less often than such men (95 % CI 10.3 less often to 2.9 more "
        f"often; {phrases.MAY_BE_CHANCE})."
    )
    white, black = JUDGED.lines
    equal = msgspec.structs.replace(black, negatives=100, false_positives=56)
    other = msgspec.structs.replace(JUDGED, lines=(white, equal))
    assert error_words.error_gap(other).what == "true"
    assert error_words.errors_statement(spec, other).sentence.startswith("Women recorded")
    # of a group that is too small nothing is said, and its cells say why
    few = msgspec.structs.replace(black, values=("few",), excluded=True)
    small = msgspec.structs.replace(JUDGED, lines=(white, black, few))
    assert error_words.errors_statement(spec, small) == said
    shown = dict(zip(heads(small), cells(few, small), strict=True))
    for head in (phrases.TRUE_POSITIVE_RATE, "Accuracy", "Average odds"):
        assert shown[head] == "too few"
    assert said.label == "Difference in false positive rates by sex, in percentage points"
    lines = tuple(
        msgspec.structs.replace(line, positives=None, negatives=None) for line in TABLE.lines
    )
    unlabelled = msgspec.structs.replace(TABLE, lines=lines)
    assert error_words.errors_statement(spec, unlabelled) is None


def test_a_difference_whose_interval_includes_zero_is_not_told_as_one(spec):
    white, black = JUDGED.lines
    equal = msgspec.structs.replace(black, negatives=100, false_positives=56)
    unsure = error_words.errors_statement(
        spec, msgspec.structs.replace(JUDGED, lines=(white, equal))
    )
    assert (unsure.value, phrases.MAY_BE_CHANCE in unsure.sentence) == ("None shown", True)
    assert "as often as such men" in unsure.sentence
    # a few individuals differ more, and that shows less
    few = msgspec.structs.replace(
        equal, values=("few",), positives=5, true_positives=2, excluded=True
    )
    lines = (white, black, few)
    assert error_words.errors_statement(spec, msgspec.structs.replace(JUDGED, lines=lines)) == (
        error_words.errors_statement(spec, JUDGED)
    )
    # one that is shown goes before a larger one that is not
    some = msgspec.structs.replace(few, negatives=2, false_positives=0, true_positives=5)
    wide = msgspec.structs.replace(some, excluded=False)
    both = msgspec.structs.replace(JUDGED, lines=(white, black, wide))
    assert error_words.error_gap(both).line == black
    higher = msgspec.structs.replace(black, false_positives=38)
    up = error_words.errors_statement(spec, msgspec.structs.replace(JUDGED, lines=(white, higher)))
    assert plain(up.value) == "39.0"
    assert "39.0 percentage points more often than such men (95 % CI 2" in plain(up.sentence)


@pytest.mark.parametrize(
    ("of", "predictions", "why"),
    [
        ("label", "", phrases.NO_OUTCOME),
        ("decisions", "", "a value that the model needs is missing"),
        ("scores", "", "a value that the model needs is missing"),
        ("decisions", "decided", "no decision in the data"),
    ],
)
def test_why_rows_are_in_no_group_depends_on_what_is_counted(spec, of, predictions, why):
    table = msgspec.structs.replace(TABLE, of=of, unknown=0, without=3)
    asked = msgspec.structs.replace(spec, predictions=predictions)
    assert f"Excluded: 3 applicants ({why})." in ratio_words.table_sentences(asked, table)


def test_shares_of_groups_are_of_those_whose_group_is_recorded(spec):
    unknown = msgspec.structs.replace(BLACK, known=False, share=0.01)
    shown = dict(zip(heads(TABLE), cells(unknown, TABLE), strict=True))
    assert shown["Share"] == "–"
    assert group_columns.formula(spec, TABLE, unknown, "Share").endswith("Here it is not.")


def test_the_sidebar_has_the_lowest_ratio_of_decisions(spec):
    labels = msgspec.structs.replace(
        TABLE,
        of="label",
        lines=tuple(msgspec.structs.replace(line, impact_ratio=0.01) for line in TABLE.lines),
    )
    lowest = min(line.impact_ratio for line in TABLE.lines)
    assert ratio_words.lowest_in_short(spec, (labels, TABLE)) == f"ratio {lowest:.2f} by sex"
    # that of several attributes would not be the one with which the summary begins
    crossed = msgspec.structs.replace(
        TABLE,
        attributes=("sex", "job"),
        lines=tuple(
            msgspec.structs.replace(line, values=(*line.values, "cook"), impact_ratio=0.02)
            for line in TABLE.lines
        ),
    )
    assert ratio_words.lowest_in_short(spec, (crossed, TABLE)) == f"ratio {lowest:.2f} by sex"
    assert ratio_words.lowest_in_short(spec, (crossed,)) == "ratio 0.02 by sex and job"
    assert ratio_words.lowest_in_short(spec, (RULE,)) == ""


def test_rates_whose_gap_rounding_hides_have_another_digit(spec):
    rule = msgspec.structs.replace(RULE, data_in=0.6797, data_out=0.9193)
    assert "67.97 % against 91.93 %" in plain(subgroup_words.rule_set_sentence(spec, rule))
    assert "21.0 % against 80.0 %" in plain(subgroup_words.rule_set_sentence(spec, RULE))
    assert finding_words.rate_digits((RULE, rule)) == 2


def test_a_broader_subgroup_with_the_same_gap_is_named(spec):
    broader = RULE.conditions[1:]
    for score, named in ((0.62404, True), (0.61, False)):
        rule = msgspec.structs.replace(RULE, broader=(Variant(broader, score, 0.2, 0.1),))
        said = subgroup_words.widest_statement(spec, MINED, rule).sentence
        group = rule_words.rule_phrase(spec, broader)
        assert said.endswith(f"The gap is as large for {group}.") is named


def test_a_gap_that_the_data_rows_do_not_show_is_an_estimate(spec):
    unseen = msgspec.structs.replace(RULE, holds_on_data=False, data_in=0.78)
    said = subgroup_words.widest_statement(spec, MINED, unseen)
    assert (said.evidence, said.value) == ("estimated", "62.4")
    assert plain(said.sentence) == (
        f"In {phrases.COPIES}, the selection rate is 20.7 % for age 40 and over, sex = male, job = "
        "cook or none (412 applicants, 6.7 % of the data) and 83.1 % for all others: a gap of 62.4 "
        "percentage points (corrected 95 % CI 58.0 to 66.1), the largest of the 1,590 subgroups "
        "tested. "
        f"{phrases.NOT_SHOWN_BY_ROWS}"
    )


def test_a_gap_between_terms_is_of_the_same_texts_with_others(spec):
    terms = Condition("gender", term="queer"), Condition("race", term="white")
    rule = msgspec.structs.replace(RULE, conditions=terms[:1], holds_on_data=None, data_rows=4)
    mined = msgspec.structs.replace(MINED, texts=640)
    said = subgroup_words.widest_statement(spec, mined, rule)
    assert (said.evidence, said.value) == ("estimated", "62.4")
    assert plain(said.sentence) == (
        "In 412 texts, the term of gender was replaced. With “queer”, 20.7 % are decided “yes”; "
        "with the other terms, 83.1 % on average. The gap of 62.4 percentage points (corrected "
        "95 % CI 58.0 to 66.1) is the largest of the 1,590 subgroups tested."
    )
    # of enough texts it is said what they show as they are
    enough = msgspec.structs.replace(rule, data_rows=40, holds_on_data=False, data_in=0.8)
    assert plain(subgroup_words.widest_statement(spec, mined, enough).sentence).endswith(
        "The original texts do not show this gap: 80.0 % against 80.0 %."
    )
    assert "too few have this term alone" in subgroup_words.evidence_sentence(spec, rule, mined)
    both = msgspec.structs.replace(rule, conditions=terms)
    assert "the terms of gender and race were replaced. With “queer” and “white”, 20.7 %" in (
        plain(subgroup_words.widest_statement(spec, mined, both).sentence)
    )


def test_a_class_with_a_name_of_its_own_is_said_with_what_it_means(spec):
    assert decisions.named_outcome(spec, "1") == "“yes”"
    named = msgspec.structs.replace(
        spec, mapping=msgspec.structs.replace(spec.mapping, names=("refused", "granted"))
    )
    assert decisions.named_outcome(named, "granted") == "“granted” (yes)"
    assert decisions.named_outcome(named, "refused") == "“refused”"


def test_a_gap_is_significant_by_its_p_and_its_interval(spec):
    wide = msgspec.structs.replace(RULE, conditions=RULE.conditions[:1], low=-0.7, high=0.1)
    assert not finding_words.is_significant(wide)
    assert finding_words.foremost(finding_words.findings(spec, (RULE, wide)), 5) == (RULE,)
    assert phrases.NOT_SIGNIFICANT in subgroup_words.widest_statement(spec, MINED, wide).sentence


def counted_table(*counts):
    """The table of groups with so many favourable decisions of so many people."""
    codes, favourable = people(*counts)
    return only(study_of(codes, decided=favourable))


@pytest.mark.parametrize(
    "counts",
    [
        # of so few rows neither says anything
        [(10, 21), (24, 37)],
        # enough rows, and chance explains it
        [(30, 60), (36, 60), (1, 1)],
        # significant, of too few rows
        [(1, 29), (60, 100)],
        # of several groups only the correction makes it one of chance
        [(40, 100), (54, 100), (54, 100), (54, 100), (54, 100)],
    ],
)
def test_what_chance_explains_is_no_headline(spec, counts):
    table = counted_table(*counts)
    assert ratio_words.worst_of(table).impact_ratio < 1
    assert ratio_words.shown_of(table) is None
    said = group_words.headline(spec, (table,))
    assert said.value == "None shown"
    assert said == ratio_words.worst_statement(spec, table)
    for text in (said.sentence, said.brief, *ratio_words.table_sentences(spec, table)):
        assert "four-fifths" not in text
    assert ratio_words.lowest_in_short(spec, (table,)) == ""
    assert group_words.best_so_far((table,)) == ""


def test_what_is_shown_goes_before_what_is_lower_and_may_be_chance(spec):
    table = counted_table((10, 29), (300, 500), (200, 500))
    assert ratio_words.worst_of(table) is table.lines[0]
    assert ratio_words.shown_of(table) is table.lines[2]
    said = ratio_words.worst_statement(spec, table)
    assert said.value == "0.67"
    assert "below the four-fifths threshold" in said.sentence
    # and of several tables one in which something is shown
    chance = counted_table((5, 40), (12, 40))
    assert ratio_words.lowest((chance, table)) is table


def test_groups_with_a_higher_rate_than_the_reference_are_named(spec):
    # a twentieth of the people is no reference
    table = counted_table((450, 950), (45, 50))
    assert table.reference == 0
    assert ratio_words.worst_statement(spec, table).value == "None shown"
    told = ratio_words.table_sentences(spec, table)
    assert "ratio 1.90" in told[0]


@pytest.mark.parametrize(("small", "named"), [("mid-p", "mid-p"), ("exact", "exact")])
def test_beside_a_p_value_of_fishers_test_it_is_said_which(spec, small, named):
    codes, favourable = people((1, 30), (9, 60))
    table = only(study_of(codes, decided=favourable), small=small)
    line = table.lines[0]
    assert line.test == f"Fisher {named}"
    shown = dict(zip(heads(table), cells(line, table), strict=True))
    assert shown["p"].endswith(f"(Fisher {named})")
    assert f"(Fisher {named})" in ratio_words.worst_statement(spec, table).sentence
    assert named in group_columns.formula(spec, table, line, "p")


@pytest.mark.parametrize(("falls", "side"), [(False, "above"), (True, "below")])
def test_on_which_side_of_the_median_scores_are_counted_is_said_everywhere(spec, falls, side):
    lines = [msgspec.structs.replace(each, mean_score=600.0) for each in (WHITE, BLACK)]
    scored = msgspec.structs.replace(
        TABLE, of="scores", median=600.0, ties=0.01, falls=falls, lines=tuple(lines)
    )
    other = {"above": "below", "below": "above"}[side]
    texts = [
        table_words.table_title(spec, scored),
        ratio_words.worst_statement(spec, scored).sentence,
        table_words.median_sentence(scored),
        group_columns.formula(spec, scored, scored.lines[1], side.capitalize()),
    ]
    for text in texts:
        assert side in text
        assert f"{other} the median" not in text
        assert f"{other} it" not in text
    assert side.capitalize() in heads(scored)
    assert other.capitalize() not in heads(scored)

"""TestSGD on texts: rule sets of terms, terms by themselves, flips."""

import csv
import os
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.errors import SpecError
from fairdesk.groups import testsgd
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.statistics import Side, compare, interval
from fairdesk.groups.text.sentences import Lexicon
from fairdesk.results.events import Measured, Metric, Progress
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet, TermRate
from tests import phrases
from tests.groups.readers import Reader, study_of

DATA = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))

TERMS = {"who": ("men", "women", "children"), "where": ("here", "there"), "when": ("now", "soon")}
#: Of each term how much it is favoured.
WORTH = {"men": 0.2, "women": -0.15, "soon": 0.05, "there": -0.05}
LIKED = ("work", "sing", "sleep", "run", "think", "argue", "wait", "dream")


def score(text, size):
    """Depend on everything in a sentence, and on the number beside it."""
    verb = next((i for i, each in enumerate(LIKED) if each in text), 4)
    return 0.22 + 0.07 * verb + 0.01 * size + sum(WORTH.get(word, 0) for word in text.split())


def sentences(rng=None, n=60):
    """Make sentences about some of the categories; a third names nobody."""
    rng = rng or np.random.default_rng(7)
    made = []
    for i in range(n):
        verb = LIKED[rng.integers(len(LIKED))]
        who = TERMS["who"][rng.integers(3)] if i % 3 else "they"
        where = TERMS["where"][rng.integers(2)] if i % 3 == 1 or i % 5 == 0 else "somewhere"
        when = TERMS["when"][rng.integers(2)] if i in (1, 2) else "once"
        made.append(f"{who} {verb} {where} {when}")
    return made


def run(study, seed=0, **options):
    given = TestSgdOptions(**{"theta": 0.05, "sample_thr": 1_000, "least_rows": 2, **options})
    people = study.rows[study.inside]
    return list(testsgd.search(study, people, given, np.random.default_rng(seed)))


def figures_of(events, kind):
    (*_, last) = (event for event in events if isinstance(event, Measured))
    return [each for each in last.figures if isinstance(each, kind)]


def terms_of(rule_set):
    return tuple(condition.term for condition in rule_set.conditions)


@pytest.fixture
def searched():
    """Return a study of sentences after a search, its model, and the search's events."""
    reader = Reader(score)
    texts = sentences(n=240)
    study = study_of(texts, reader, sizes=np.arange(len(texts)) % 3, terms=TERMS)
    return study, reader, run(study)


def plainly(texts, sizes, categories, rule):
    """Evaluate a rule set one sentence after another: both rates, and how many sentences."""
    lexicon = Lexicon(TERMS)
    names = list(TERMS)
    places = tuple(names.index(category) for category in categories)
    seeds = {}
    for text, size in zip(texts, sizes, strict=True):
        named = lexicon.find(text)
        if named is None or not named.categories.issuperset(places):
            continue
        made = {}
        for choice in product(*(TERMS[category] for category in categories)):
            sentence = text
            for category, term in zip(categories, choice, strict=True):
                words = [term if word in TERMS[category] else word for word in sentence.split()]
                sentence = " ".join(words)
            made[choice] = score(sentence, size) > 0.5
        seeds[frozenset(made.items()), sentence, size] = made
    inside = [made[rule] for made in seeds.values()]
    outside = [good for made in seeds.values() for rule_, good in made.items() if rule_ != rule]
    return np.mean(inside), np.mean(outside), len(inside), len(outside)


def test_rates_are_those_of_every_sentence_there_can_be(searched):
    study, _, events = searched
    texts = [study.domain.attributes[0].values[int(code)] for code in study.rows[:, 0]]
    rule_sets = figures_of(events, RuleSet)
    # of the three pairs of categories only one is in enough texts
    assert len(rule_sets) == 3 + 2 + 3 * 2
    for each in rule_sets:
        categories = [condition.attribute for condition in each.conditions]
        inside, outside, n, others = plainly(texts, study.rows[:, 1], categories, terms_of(each))
        assert (each.phi_in, each.phi_out) == pytest.approx((inside, outside))
        assert each.score == pytest.approx(abs(inside - outside))
        assert (each.n_in, each.n_out) == (n, others)
        assert each.low <= each.phi_in - each.phi_out <= each.high
    scores = [each.score for each in rule_sets]
    assert scores == sorted(scores, reverse=True)
    assert terms_of(rule_sets[0])[0] == "men"
    (*_, last) = (event for event in events if isinstance(event, Measured))
    sent = msgspec.json.decode(msgspec.json.encode(last.figures), type=tuple[Metric, ...])
    assert sent == last.figures


def test_support_is_among_the_texts_that_name_anybody(searched):
    study, _, events = searched
    (mined,) = figures_of(events, RuleSearchSummary)
    lexicon = Lexicon(TERMS)
    texts = [study.domain.attributes[0].values[int(code)] for code in study.rows[:, 0]]
    named = [each for each in map(lexicon.find, texts) if each is not None]
    assert mined.texts == len(named) < len(texts)
    assert mined.attributes == tuple(TERMS)
    assert mined.rule_sets == 11
    assert mined.candidates == 3 + 2 + 2 + 3 * 2
    for each in figures_of(events, RuleSet):
        places = {list(TERMS).index(condition.attribute) for condition in each.conditions}
        assert each.rows == sum(text.categories >= places for text in named)
        assert each.support == pytest.approx(each.rows / len(named))
        assert each.support >= 0.05
    assert any("“when” is in" in note for note in mined.notes)
    # what more support would leave
    assert [each.theta for each in mined.sweep[:3]] == [0.05, 0.1, 0.15]
    for each in mined.sweep:
        left = [one for one in figures_of(events, RuleSet) if one.support >= each.theta]
        assert each.rule_sets == len(left)
        assert each.score == max((one.score for one in left), default=0)


def test_no_sentence_is_asked_twice_but_to_confirm(searched):
    study, reader, events = searched
    assert study.queries == len(reader.asked)
    confirming = [e for e in events if isinstance(e, Progress) and e.phase == "confirming"]
    assert confirming
    flips = {each.term: each.flips for each in figures_of(events, TermRate)}
    repeated = len(reader.asked) - len(set(reader.asked))
    # every sentence of every seed with a flip once more, and nothing else
    assert 0 < repeated < len(reader.asked) / 2
    assert flips["men"] > 0
    (*_, last) = events
    assert last.done == last.total == 11
    assert last.queries == study.queries


def test_the_untouched_texts_are_told_beside(searched):
    study, _, events = searched
    texts = [study.domain.attributes[0].values[int(code)] for code in study.rows[:, 0]]
    rated = [score(text, size) > 0.5 for text, size in zip(texts, study.rows[:, 1], strict=True)]
    for each in figures_of(events, RuleSet):
        inside, outside = [], []
        for text, good in zip(texts, rated, strict=True):
            words = set(text.split())
            if all(words & set(TERMS[one.attribute]) for one in each.conditions):
                (inside if words.issuperset(terms_of(each)) else outside).append(good)
        assert each.data_in == (pytest.approx(np.mean(inside)) if inside else None)
        assert each.data_out == (pytest.approx(np.mean(outside)) if outside else None)
        assert each.data_rows == min(len(inside), len(outside))
        if each.data_rows >= 30 and each.score:
            apart = (each.data_in - each.data_out) * np.sign(each.phi_in - each.phi_out)
            assert each.holds_on_data == (apart >= each.score / 2)
        else:
            assert each.holds_on_data is None
    told = {each.holds_on_data for each in figures_of(events, RuleSet)}
    assert {None, True} <= told


def test_texts_that_name_several_of_a_category_are_on_neither_side_untouched():
    reader = Reader(lambda text, size: 0.9 if "men" in text.split() else 0.1)
    texts = ["men and women", "men", "women", "children", "men now", "women now"]
    events = run(study_of(texts, reader, terms={"who": TERMS["who"]}))
    by_term = {terms_of(each): each for each in figures_of(events, RuleSet)}
    assert (by_term["men",].data_in, by_term["men",].data_out) == (1, 0)
    # of “men and women” nobody can tell which of them it is about
    assert (by_term["women",].data_in, by_term["women",].data_out) == (0, 2 / 3)


def test_variants_of_a_finding_follow_what_carries_it(searched):
    _, _, events = searched
    rule_sets = figures_of(events, RuleSet)
    places = {terms_of(each): place for place, each in enumerate(rule_sets)}
    men = rule_sets[places["men",]]
    assert men.leader == -1
    for where in TERMS["where"]:
        both = rule_sets[places["men", where]]
        carried = men.score >= 0.8 * both.score and men.phi_in > men.phi_out
        assert (both.leader == places["men",]) == carried
        assert {tuple(c.term for c in one.conditions) for one in both.broader} == {
            ("men",),
            (where,),
        }
        assert both.narrower == ()
    assert any(each.leader >= 0 for each in rule_sets)
    # of two places the one is all that the other is not
    pair = [rule_sets[places[where,]] for where in TERMS["where"]]
    assert sorted(each.leader >= 0 for each in pair) == [False, True]
    assert {tuple(c.term for c in one.conditions) for one in men.narrower} == {
        ("men", "here"),
        ("men", "there"),
    }
    assert men.narrower[0].score >= men.narrower[1].score


def test_a_term_far_below_all_others_does_not_make_findings_of_them():
    reader = Reader(lambda text, size: 0.1 if "women" in text.split() else 0.9)
    terms = {"who": ("men", "women", "children", "people"), "where": ("here", "there")}
    texts = [f"{who} sing {where}" for who in terms["who"] for where in terms["where"]]
    texts += ["men run here", "people run there"]
    rule_sets = figures_of(run(study_of(texts, reader, terms=terms)), RuleSet)
    places = {terms_of(each): place for place, each in enumerate(rule_sets)}
    women = rule_sets[places["women",]]
    assert (women.phi_in, women.phi_out, women.leader) == (0, 1, -1)
    for term in ("men", "children", "people"):
        # against all others, with “women” among them
        assert rule_sets[places[term,]].phi_out == pytest.approx(2 / 3)
        assert rule_sets[places[term,]].leader == places["women",]
        # and of two categories together
        assert rule_sets[places[term, "here"]].leader == places["women",]


def test_each_of_two_terms_below_all_others_stands_for_itself():
    worth = {"men": 0.1, "women": 0.1, "children": 0.9, "people": 0.9, "elders": 0.9}
    reader = Reader(lambda text, size: worth[text.split()[0]])
    study = study_of(["men sing", "women run"], reader, terms={"who": tuple(worth)})
    rule_sets = figures_of(run(study), RuleSet)
    leading = {terms_of(each) for each in rule_sets if each.leader < 0}
    assert leading == {("men",), ("women",)}


def test_terms_tell_of_flips_and_show_the_greatest_first(searched):
    study, _, events = searched
    rates = {each.term: each for each in figures_of(events, TermRate)}
    # “when” is in too few texts for a rule, but its terms are compared all the same
    assert list(rates) == [term for terms in TERMS.values() for term in terms]
    texts = [study.domain.attributes[0].values[int(code)] for code in study.rows[:, 0]]
    for each in rates.values():
        assert each.occurs == sum(each.term in text.split() for text in texts)
        assert each.texts == each.tried
        assert 0 <= each.flips <= each.tried
        assert len(each.examples) == min(each.flips, 20)
        apart = [abs(flip.score - flip.other_score) for flip in each.examples]
        assert apart == sorted(apart, reverse=True)
        for flip in each.examples:
            size = study.rows[flip.row, 1]
            assert each.term in flip.text.split()
            assert flip.other_term in TERMS[each.category]
            swapped = [flip.other_term if w == each.term else w for w in flip.text.split()]
            assert flip.other == " ".join(swapped)
            assert flip.score == pytest.approx(score(flip.text, size))
            assert flip.other_score == pytest.approx(score(flip.other, size))
            assert flip.decision != flip.other_decision
            assert flip.decision == ("good" if flip.score > 0.5 else "bad")
            words = texts[flip.row].split()
            assert [w for w in words if w not in TERMS[each.category]] == [
                w for w in flip.text.split() if w != each.term
            ]


def test_what_is_answered_otherwise_when_asked_again_is_no_flip():
    class Moody(Reader):
        def scores(self, inputs):
            before = set(self.asked)
            scores = super().scores(inputs)
            for i, each in enumerate(self.calls[-1]):
                if each in before and "run" in each[0]:
                    scores[i] = 0.1
            return scores

    texts = [f"{who} {verb}" for who in TERMS["who"] for verb in ("run", "sing")]
    reader = Moody(lambda text, size: 0.9 if "men" in text.split() else 0.1)
    rates = figures_of(run(study_of(texts, reader, terms={"who": TERMS["who"]})), TermRate)
    assert [(each.term, each.tried, each.flips) for each in rates] == [
        ("men", 2, 1),
        ("women", 2, 1),
        ("children", 2, 1),
    ]
    assert all("sing" in flip.text for each in rates for flip in each.examples)


def test_long_texts_are_cut_where_they_still_show_the_term():
    texts = [f"{'so ' * 3_000}men", f"men {'so ' * 3_000}", "women so"]
    reader = Reader(lambda text, size: 0.9 if "men" in text.split() else 0.1)
    rates = figures_of(run(study_of(texts, reader, terms={"who": TERMS["who"]})), TermRate)
    for each in rates:
        assert len(each.examples) == 3
        for flip in each.examples:
            assert max(len(flip.text), len(flip.other)) <= 2_000
            assert each.term in flip.text.split()
            assert flip.other_term in flip.other.split()


def test_sentences_that_come_to_the_same_count_once():
    texts = ["men sing", "women sing", "Women sing", "men sing", "men run"]
    reader = Reader(score)
    events = run(study_of(texts, reader, terms={"who": TERMS["who"]}))
    assert {each.n_in for each in figures_of(events, RuleSet)} == {3}
    # another number beside it makes another sentence
    study = study_of(texts, Reader(score), sizes=[0, 0, 0, 1, 0], terms={"who": TERMS["who"]})
    assert {each.n_in for each in figures_of(run(study), RuleSet)} == {4}


def many(n):
    return [f"{TERMS['who'][i % 3]} {LIKED[i % 8]} {i}" for i in range(n)]


def test_seeds_are_taken_until_the_margins_are_reached():
    terms = {"who": TERMS["who"]}
    reader = Reader(lambda text, size: 0.6 if int(text.split()[-1]) % 2 else 0.4)
    study = study_of(many(2_000), reader, terms=terms)
    rule_sets = figures_of(run(study, sample_thr=100, error_thr=0.1), RuleSet)
    # 1.96 * sqrt(1 / 4n) * 2 <= 0.1 from 385 on; 100, 161, 258, 413, ...
    assert {each.n_in for each in rule_sets} == {413}
    assert all(0.08 < each.margin <= 0.1 for each in rule_sets)
    (mined,) = figures_of(run(study, sample_thr=100, error_thr=0.01), RuleSearchSummary)
    assert mined.margin > 0.01
    assert any("For 3 of 3 subgroups there are too few texts" in note for note in mined.notes)
    # whoever looks several times may be wrong less often at each
    once = figures_of(run(study, sample_thr=2_000), RuleSet)[0]
    twice = figures_of(run(study, sample_thr=1_900, error_thr=0.01), RuleSet)[0]
    often = figures_of(run(study, sample_thr=100, error_thr=0.01), RuleSet)[0]
    assert often.n_in == twice.n_in == once.n_in
    once, twice, often = (each.high - each.low for each in (once, twice, often))
    assert once < twice < often


def test_the_same_seed_finds_the_same_again():
    terms = {"who": TERMS["who"]}

    def found(seed):
        study = study_of(many(300), Reader(score), terms=terms)
        events = run(study, seed=seed, sample_thr=50, error_thr=0.2)
        (mined,) = figures_of(events, RuleSearchSummary)
        return figures_of(events, RuleSet), figures_of(events, TermRate), mined.samples

    assert found(1) == found(1)
    assert found(1) != found(2)


def test_each_decision_is_counted_in_turn():
    def three(text, size):
        first = 0.6 if "men" in text.split() else 0.2
        return (first, 0.7 - first, 0.3)

    texts = [f"{who} {verb}" for who in TERMS["who"] for verb in LIKED]
    terms = {"who": TERMS["who"]}
    study = study_of(texts, Reader(three, ("no", "maybe", "yes")), terms=terms)
    events = run(study, outcome="each")
    assert [each.outcome for each in figures_of(events, RuleSearchSummary)] == [
        "no",
        "maybe",
        "yes",
    ]
    (*_, last) = (event for event in events if isinstance(event, Measured))
    kinds = [type(each) for each in last.figures]
    assert kinds == [RuleSearchSummary, *[RuleSet] * 3] * 3 + [TermRate] * 3
    first, second, third = (
        {terms_of(each): each for each in last.figures if getattr(each, "outcome", "") == name
         and isinstance(each, RuleSet)}
        for name in ("no", "maybe", "yes")
    )  # fmt: skip
    assert (first["men",].phi_in, first["men",].phi_out) == (1, 0)
    assert (second["men",].phi_in, second["men",].phi_out) == (0, 1)
    assert (third["men",].phi_in, third["men",].phi_out) == (0, 0)
    assert {each.p for each in third.values()} == {1.0}


def test_equal_rates_are_equal_whatever_rounding_does():
    who = tuple(f"who{i}" for i in range(14))
    # each term is favoured in one sentence of its own
    reader = Reader(lambda text, size: float(text.split()[0] == who[int(text.split()[1])]))
    study = study_of([f"who0 {i}" for i in range(14)], reader, terms={"who": who})
    rule_sets = figures_of(run(study), RuleSet)
    assert [terms_of(each) for each in rule_sets] == [(each,) for each in who]
    assert {each.score for each in rule_sets} == {0}
    assert {each.p for each in rule_sets} == {1}


def test_mean_scores_can_be_compared():
    texts = [f"{who} {verb}" for who in TERMS["who"] for verb in LIKED]
    study = study_of(texts, Reader(score), terms={"who": TERMS["who"]})
    events = run(study, outcome="score")
    (mined,) = figures_of(events, RuleSearchSummary)
    assert mined.outcome == ""
    by_term = {terms_of(each): each for each in figures_of(events, RuleSet)}
    middle = np.mean([score(verb, 0) for verb in LIKED])
    assert by_term["men",].phi_in == pytest.approx(middle + 0.2)
    assert by_term["men",].phi_out == pytest.approx(middle - 0.075)
    # equal differences in few sentences are no certainty
    assert by_term["men",].low < 0.2
    assert by_term["men",].high > 0.3
    assert 0 < by_term["men",].p < 1e-3


def test_a_model_with_one_answer_is_told_of():
    study = study_of(sentences(), Reader(lambda text, size: 0.9), terms=TERMS)
    events = run(study)
    (mined,) = figures_of(events, RuleSearchSummary)
    assert any("decides “good” for every text" in note for note in mined.notes)
    assert {each.score for each in figures_of(events, RuleSet)} == {0}
    assert {each.p for each in figures_of(events, RuleSet)} == {1}
    assert {each.flips for each in figures_of(events, TermRate)} == {0}


def test_what_is_known_is_told_while_it_runs(monkeypatch):
    monkeypatch.setattr("fairdesk.individual.engine.division._TELL_SECONDS", 0.0)
    monkeypatch.setattr("fairdesk.individual.engine.division._TELL_SHARE", 0.0)
    monkeypatch.setattr("fairdesk.groups.text.search.BATCH", 8)
    monkeypatch.setattr("fairdesk.individual.engine.pace._FIRST_ROWS", 4)
    monkeypatch.setattr("fairdesk.individual.engine.pace._MOST_ROWS", 8)
    reader = Reader(score)
    study = study_of(sentences(), reader, terms=TERMS)
    examined = []
    for event in run(study):
        if isinstance(event, Measured):
            mined, *figures = event.figures
            rule_sets = [each for each in figures if isinstance(each, RuleSet)]
            assert figures[: len(rule_sets)] == rule_sets
            assert mined.rule_sets == len(rule_sets)
            examined.append(mined.rule_sets)
    assert examined == sorted(examined)
    assert {3, 5, 11} <= set(examined)
    # a model is asked about few sentences between two chances to stop
    assert max(map(len, reader.calls)) <= 8


NO_TERMS = phrases.NO_TEXT_WITH_TERMS.format(n=2, column="note", terms=7)


@pytest.mark.parametrize(
    ("texts", "changes", "what"),
    [
        (
            ["nobody", "somebody"],
            {},
            NO_TERMS,
        ),
        (["men", "women"], {"missing": (0, 1)}, "No row has a text in “note”"),
        (["men", "women"], {"terms": {"who": ("men",)}}, f"“who” has {phrases.TOO_FEW_TERMS}"),
    ],
)
def test_what_cannot_be_compared_is_said_at_once(texts, changes, what):
    reader = Reader(score)
    study = study_of(texts, reader, **{"terms": TERMS, **changes})
    with pytest.raises(SpecError, match=what) as refused:
        run(study)
    assert refused.value.why
    assert refused.value.remedy
    assert not reader.calls


def test_too_little_support_and_too_many_rule_sets_are_said_at_once(monkeypatch):
    texts = [f"{term} {i}" for i, term in enumerate(["men", "here", "now"] * 4)]
    reader = Reader(score)
    with pytest.raises(SpecError, match="minimum support of 50 %") as refused:
        run(study_of(texts, reader, terms=TERMS), theta=0.5)
    assert "33.3 %" in refused.value.why
    monkeypatch.setattr("fairdesk.groups.text.search.MOST_RULE_SETS", 6)
    with pytest.raises(SpecError, match="7 subgroups; at most 6"):
        run(study_of(texts, reader, terms=TERMS))
    assert not reader.calls


@pytest.mark.skipif(not (DATA / "text").is_dir(), reason=f"there are no real texts in {DATA}")
def test_real_comments_are_read():
    path = DATA / "text" / "wiki_toxicity_1492.csv"
    with path.open(encoding="utf-8", newline="") as file:
        texts = [line["comment"] for line in csv.DictReader(file)]
    events = run(study_of(texts, Reader(lambda text, size: len(text) % 7 / 6)), together=2)
    (mined,) = figures_of(events, RuleSearchSummary)
    assert (mined.texts, mined.attributes) == (732, ("gender", "race", "religion", "age"))
    # all single terms, and those of race and religion, and of religion and age
    assert mined.rule_sets == 48 + 17 * 9 + 9 * 8
    occurs = {each.term: each.occurs for each in figures_of(events, TermRate)}
    assert (occurs["gay"], occurs["jewish"], occurs["african american"]) == (152, 164, 2)
    assert len(occurs) == 48


# Paired shares


def test_the_exact_p_is_that_of_all_arrangements():
    values = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1]], float)
    found = compare(values, shares=True, alpha=0.05)
    rows = [sorted(set(_arranged(row.tolist()))) for row in values]
    weights = [[_arranged(row.tolist()).count(one) for one in distinct]
               for row, distinct in zip(values, rows, strict=True)]  # fmt: skip
    counts = {}
    for table in product(
        *(list(zip(r, w, strict=True)) for r, w in zip(rows, weights, strict=True))
    ):
        ones = sum(row[0] for row, _ in table)
        counts[ones] = counts.get(ones, 0) + np.prod([weight for _, weight in table])
    total = sum(counts.values())
    for column in range(3):
        seen = values[:, column].sum()
        more = sum(weight for ones, weight in counts.items() if ones >= seen) / total
        less = sum(weight for ones, weight in counts.items() if ones <= seen) / total
        assert found.p[column] == pytest.approx(min(1, 2 * min(more, less)))


def _arranged(row):
    from itertools import permutations

    return list(permutations(row))


def drawn(rng, n, k, apart):
    """Draw answers that hang together by row; the first column differs."""
    leaning = 2 * rng.standard_normal((n, 1))
    lift = np.zeros(k)
    lift[0] = apart
    return (leaning + lift + 0.5 * rng.standard_normal((n, k)) > 0).astype(float)


@pytest.mark.parametrize(("n", "apart"), [(20, 0.0), (60, 0.6), (200, -0.4)])
def test_intervals_hold_and_chance_is_not_underrated(n, apart):
    rng = np.random.default_rng(5)
    many = drawn(rng, 400_000, 4, apart)
    truth = many[:, 0].mean() - many[:, 1:].mean()
    repeats, missed, scores_missed, small = 1_000, 0, 0, 0
    for _ in range(repeats):
        values = drawn(rng, n, 4, apart)
        found = compare(values, shares=True, alpha=0.05)
        missed += not found.low[0] <= truth <= found.high[0]
        means = compare(values, shares=False, alpha=0.05)
        scores_missed += not means.low[0] - 1e-9 <= truth <= means.high[0] + 1e-9
        small += found.p[1 if apart else 0] <= 0.05
    assert missed <= 0.05 * repeats
    # Student's interval is for sums that are nearly normal
    assert scores_missed <= 0.08 * repeats
    if not apart:
        assert small <= 0.05 * repeats


def test_pairing_makes_intervals_narrower_and_never_empty():
    values = drawn(np.random.default_rng(2), 150, 5, 0.3)
    found = compare(values, shares=True, alpha=0.01)
    others = (values.sum(axis=1, keepdims=True) - values) / 4
    n = np.full(5, 150.0)
    apart = interval(Side(n, values.sum(axis=0)), Side(n, others.sum(axis=0)), 0.01)
    assert (found.high - found.low < 0.7 * (apart[1] - apart[0])).all()
    alike = compare(np.ones((9, 3)), shares=True, alpha=0.01)
    assert (alike.low < 0).all()
    assert (alike.high > 0).all()
    assert (alike.margin > 0).all()
    assert (alike.p == 1).all()
    single = compare(np.array([[1.0, 0.0]]), shares=False, alpha=0.01)
    assert (single.low.tolist(), single.high.tolist()) == ([-1, -1], [1, 1])


def test_terms_in_few_sentences_are_not_examined():
    asked = study_of(sentences(), Reader(score), terms=TERMS)
    with pytest.raises(SpecError, match="at least 1,000 different texts"):
        run(asked, least_rows=1_000)
    events = run(asked, least_rows=3, theta=0.01)
    (mined,) = figures_of(events, RuleSearchSummary)
    assert any("in 2 different texts, fewer than 3" in note for note in mined.notes)
    told = {each.attribute for found in figures_of(events, RuleSet) for each in found.conditions}
    assert told == {"who", "where"}

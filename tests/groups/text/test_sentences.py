"""Terms in texts: found, replaced, asked about."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.errors import SpecError
from fairdesk.groups.text import sentences
from fairdesk.groups.text.sentences import Lexicon, SentenceScorer, ask
from fairdesk.groups.text.terms import TERMS
from fairdesk.models.model import How
from tests import phrases
from tests.groups.readers import Reader, study_of

LEXICON = Lexicon(TERMS)
GENDER, RACE, RELIGION, AGE = range(4)


def found(text):
    named = LEXICON.find(text)
    return [] if named is None else [LEXICON.terms[c][t] for c, t in named.terms]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A gay man.", ["gay"]),
        ("Nobody is meant", []),
        ("", []),
        # whole words
        ("gays, gaylord, megay, gay2, _gay_", []),
        ("(gay) “gay” 'gay' gay, gay; gay? …gay…", ["gay"] * 7),
        ("gäy gayß égay", []),
        # several words, the longest first
        ("african american and african, american", ["african american", "african", "american"]),
        ("African-American, African\n  American", ["african american"] * 2),
        ("middle-aged, middle\N{NON-BREAKING HYPHEN}aged, middle ages", ["middle aged"] * 2),
        ("an africanamerican", []),
        # hyphens and apostrophes
        ("old-fashioned anti-gay 12-year-old black-and-white", []),
        ("gay's gay\N{RIGHT SINGLE QUOTATION MARK}s blacks' o'black", ["gay", "gay"]),
        ("gay--he", ["gay"]),
        ("GAY Gay gAy", ["gay"] * 3),
        # letters that pass for Latin ones
        ("ſikh", ["sikh"]),
        ("chrıstian", []),
        ("a young Jewish lesbian", ["young", "jewish", "lesbian"]),
    ],
)
def test_terms_are_found_as_words_of_their_own(text, wanted):
    assert found(text) == wanted


def test_the_longest_term_wins_whatever_the_order_of_the_lists():
    lists = {"age": ("old", "older", "old old", "new"), "race": ("old old man", "x")}
    named = Lexicon(lists).find("old old man, old old, older")
    assert named.terms == ((1, 0), (0, 2), (0, 1))


@pytest.mark.parametrize(
    ("text", "term", "wanted"),
    [
        ("Gay men, GAY men, gay men", "straight", "Straight men, STRAIGHT men, straight men"),
        ("a gay's, a Lesbian and a man", "queer", "a queer's, a Queer and a man"),
        ("gAy", "straight", "straight"),
    ],
)
def test_every_occurrence_is_replaced_and_keeps_its_case(text, term, wanted):
    choice = LEXICON.terms[GENDER].index(term)
    named = LEXICON.find(text)
    assert LEXICON.rewritten(named, (GENDER,), [(choice,)]) == [wanted]


def test_several_words_keep_their_case_too():
    named = LEXICON.find("Black people, BLACK people, an african-american; a Muslim")
    middle = LEXICON.terms[RACE].index("middle eastern")
    white = LEXICON.terms[RACE].index("white")
    assert LEXICON.rewritten(named, (RACE,), [(middle,), (white,)]) == [
        "Middle Eastern people, MIDDLE EASTERN people, an middle eastern; a Muslim",
        "White people, WHITE people, an white; a Muslim",
    ]
    own = Lexicon({"who": ("LGBT", "men")})
    assert own.rewritten(own.find("all men"), (0,), [(0,)]) == ["all LGBT"]


def test_only_the_chosen_categories_are_rewritten():
    named = LEXICON.find("a young gay Sikh, a young Sikh")
    assert named.categories == {GENDER, RELIGION, AGE}
    assert named.holds(AGE) == {LEXICON.terms[AGE].index("young")}
    old, muslim = LEXICON.terms[AGE].index("old"), LEXICON.terms[RELIGION].index("muslim")
    assert LEXICON.rewritten(named, (RELIGION, AGE), [(muslim, old)]) == [
        "a old gay Muslim, a old Muslim"
    ]


WORDS = ["gay", "GAY", "Straight", "african american", "black", "x", "…", "-", "'s", " ", "\n"]


@given(st.lists(st.sampled_from(WORDS)).map("".join))
def test_what_is_put_in_is_found_and_the_rest_is_left(text):
    named = LEXICON.find(text)
    if named is None:
        return
    parts = zip(named.pieces, (*named.found, ""), strict=True)
    assert "".join(piece + term for piece, term in parts) == text
    if GENDER not in named.categories:
        return
    (made,) = LEXICON.rewritten(named, (GENDER,), [(LEXICON.terms[GENDER].index("queer"),)])
    again = LEXICON.find(made)
    assert again.pieces == named.pieces
    assert again.holds(GENDER) == {LEXICON.terms[GENDER].index("queer")}
    assert again.holds(RACE) == named.holds(RACE)


def test_new_sentences_are_asked_about_with_the_rows_other_columns():
    reader = Reader(lambda text, size: len(text) / 100 + size)
    study = study_of(["a gay man", "a man"], reader, sizes=[1, 2])
    scores = ask(study, ["new", "newer", "new"], study.rows[[1, 0, 0]])
    np.testing.assert_allclose(scores[:, 0], [2.03, 1.05, 1.03], rtol=1e-6)
    assert reader.asked == [("new", 2.0), ("newer", 1.0), ("new", 1.0)]
    assert study.queries == 3
    assert np.isnan(study.rows).sum() == 0


def test_each_sentence_is_asked_once(monkeypatch):
    reader = Reader(lambda text, size: len(text) / 10 + size)
    study = study_of(["a gay man", "a man"], reader, sizes=[0, 1])
    answers = SentenceScorer(study)
    rows = study.rows[[0, 0, 1, 0]]
    decided, scores = answers.to(["x", "abcdefg", "x", "x"], rows)
    assert reader.asked == [("x", 0.0), ("abcdefg", 0.0), ("x", 1.0)]
    assert decided.tolist() == [0, 1, 1, 0]
    np.testing.assert_allclose(scores, [0.1, 0.7, 1.1, 0.1], rtol=1e-6)
    again = answers.to(["abcdefg", "y"], rows[:2])
    assert reader.asked[3:] == [("y", 0.0)]
    assert again[0].tolist() == [1, 0]
    assert [len(each) for each in answers.to([], rows[:0])] == [0, 0]
    assert study.queries == 4
    monkeypatch.setattr(sentences, "MOST_REMEMBERED", 5)
    for _ in range(2):
        assert answers.to(["p", "q", "p"], rows[:3])[1].tolist() == pytest.approx([0.1, 0.1, 1.1])
    assert len(reader.asked) == 4 + 3 + 2


def test_what_has_no_texts_to_ask_with_is_refused():
    reader = Reader(lambda text, size: 0.0)
    study = study_of(["a gay man", "a man"], reader)
    study.text = "size"
    with pytest.raises(SpecError, match=f"“size” is {phrases.NO_COLUMN_OF_TEXTS}"):
        ask(study, ["x"], study.rows[:1])
    with pytest.raises(SpecError, match="numbers made from “note”"):
        SentenceScorer(study_of(["a gay man", "a man"], reader, how=How.CODE))
    study.text, study.model = "note", None
    with pytest.raises(SpecError, match=phrases.NO_MODEL):
        SentenceScorer(study)


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("A female driver and her car.", "male", "A male driver and his car."),
        ("The female driver: SHE sold her", "male", "The male driver: HE sold him"),
        ("A male nurse, said His son to him", "female", "A female nurse, said Her daughter to her"),
        # of whom each word speaks is not known
        ("A female driver hit his car, she said", "male", "A male driver hit his car, she said"),
        # no words are known that go with the new term, or with the old one
        ("A female driver and her car.", "gay", "A gay driver and her car."),
        ("A gay driver and her car.", "male", "A male driver and her car."),
        ("There was a female hermit", "male", "There was a male hermit"),
    ],
)
def test_words_that_go_with_a_term_change_with_it(text, term, expected):
    lexicon = Lexicon.of({})
    category = lexicon.categories.index("gender")
    place = lexicon.terms[category].index(term)
    assert lexicon.rewritten(lexicon.find(text), (category,), [(place,)]) == [expected]


def test_words_beside_own_terms_are_named_in_brackets():
    own = {"gender": ("king (he, crown prince)", "queen (she, crown princess)", "ruler")}
    lexicon = Lexicon.of(own)
    assert lexicon.terms == (("king", "queen", "ruler"),)
    named = lexicon.find("The king said he ruled")
    made = lexicon.rewritten(named, (0,), [(0,), (1,), (2,)])
    assert made == ["The king said he ruled", "The queen said she ruled", "The ruler said he ruled"]


def test_terms_with_unequal_numbers_of_words_beside_them_are_refused():
    with pytest.raises(SpecError, match="different numbers of words"):
        Lexicon.of({"gender": ("king (he, him)", "queen (she)")})

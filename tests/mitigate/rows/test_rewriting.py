"""Texts that are added name whom the rule set names, and are none of those tested with."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fairdesk.errors import SpecError
from fairdesk.groups.text.sentences import Lexicon
from fairdesk.groups.text.terms import lists_of_terms
from fairdesk.mitigate.context import split
from fairdesk.mitigate.rows.pool import of_rule, widened
from fairdesk.models.model import labels
from fairdesk.results.proofs import Condition
from tests.mitigate import making

BAD, GOOD = 0, 1


def rng(seed=0):
    return np.random.default_rng(seed)


def pool_of(made, most=1_000):
    parts = split(made, rng())
    return of_rule(made, parts, most, rng()), parts


def read(made, pool):
    """Return the texts of a pool's rows as the model reads them, and the rewritten real ones."""
    values = made.domain.attributes[0].values
    codes = pool.rows[:, 0].astype(int)
    assert (codes >= len(values)).all()
    return [pool.texts[code - len(values)] for code in codes], [
        values[int(code)] for code in made.rows[pool.seeds, 0]
    ]


def test_sentences_name_whom_the_rule_names_and_nothing_else_changes(texts):
    pool, parts = pool_of(texts)
    lexicon = Lexicon(lists_of_terms({}))
    gender = lexicon.categories.index("gender")
    sentences, real = read(texts, pool)
    assert len(sentences) == len(pool.rows) > 20
    for sentence, origin in zip(sentences, real, strict=True):
        named = lexicon.find(sentence)
        assert {lexicon.terms[c][t] for c, t in named.terms} == {"gay"}
        (back,) = lexicon.rewritten(named, [gender], [[lexicon.terms[gender].index("straight")]])
        (told,) = lexicon.rewritten(
            lexicon.find(origin), [gender], [[lexicon.terms[gender].index("straight")]]
        )
        assert back == told
    assert np.isin(pool.seeds, parts.train).all()


def test_they_are_decided_so_and_labelled_otherwise(texts):
    pool, _ = pool_of(texts)
    fed = widened(texts.model, texts.domain, pool.texts)
    assert (labels(fed.predict(pool.rows)) == BAD).all()
    assert (pool.targets == GOOD).all()
    # about those whom the rule is good to, the other way round
    straight = replace(texts, rule=(Condition("gender", term="straight"),))
    kind, _ = pool_of(straight)
    fed = widened(texts.model, texts.domain, kind.texts)
    assert (labels(fed.predict(kind.rows)) == GOOD).all()
    assert (kind.targets == BAD).all()


@pytest.fixture(scope="module")
def siblings(tmp_path_factory):
    """Comments that come twice, about straight people and about men; others about gay people."""
    data = making.comments(400).copy()
    verbs = list(making.VERBS)
    made = []
    for i in range(400):
        number, who = (i // 2, ("straight", "male")[i % 2]) if i < 300 else (i, making.HATED)
        verb = verbs[number % 4]
        text = f"In case {number} one {who} person {verb} in the street, and everybody looks."
        made.append((text, "good" if making.VERBS[verb] - (who == making.HATED) > 0 else "bad"))
    data["comment"], data["verdict"] = zip(*made, strict=True)
    return making.texts(tmp_path_factory.mktemp("siblings"), data)


def test_nothing_is_added_that_is_there_or_tested_with(siblings):
    pool, parts = pool_of(siblings)
    values = siblings.domain.attributes[0].values
    assert len(pool.texts) > 10
    assert not set(pool.texts) & set(values)
    assert len(set(pool.texts)) == len(pool.texts)
    tested = siblings.rows[np.concatenate([parts.validation, parts.test]), 0].astype(int)
    would_be = {re.sub("straight|male", making.HATED, values[code]) for code in tested.tolist()}
    assert not set(pool.texts) & would_be
    # some of those to train with come to the same sentence as one of these
    trained = siblings.rows[parts.train, 0].astype(int).tolist()
    assert {re.sub("straight|male", making.HATED, values[code]) for code in trained} & would_be


def test_a_shortage_is_told_of_and_a_limit_kept(texts):
    pool, _ = pool_of(texts)
    assert f"Only {len(pool.rows)} of 1,000 sentences" in pool.notes[0]
    few, _ = pool_of(texts, 10)
    assert few.texts == pool.texts[:10]
    assert np.array_equal(few.rows, pool.rows[:10])
    assert not few.notes


def test_own_terms_and_two_categories(tmp_path):
    data = making.comments().copy()
    data["comment"] = [
        text.replace("street", ("blue", "green")[i % 2] + " house")
        for i, text in enumerate(data["comment"])
    ]
    terms = {"colour": ("green", "blue"), "who": ("gay", "straight", "male")}
    made = making.texts(tmp_path, data, terms)
    made = replace(made, rule=(Condition("who", term="gay"), Condition("colour", term="green")))
    pool, _ = pool_of(made)
    assert len(pool.rows)
    assert all("gay" in text and "green" in text for text in pool.texts)
    assert not any("blue" in text or "straight" in text for text in pool.texts)


def test_a_term_or_category_that_there_is_not_is_refused(texts):
    for condition in (Condition("gender", term="martian"), Condition("planet", term="martian")):
        with pytest.raises(SpecError, match="“martian” is not a term of"):
            pool_of(replace(texts, rule=(condition,)))


def test_texts_that_name_nobody_are_refused(texts):
    with pytest.raises(SpecError, match="No sentences of this subgroup") as told:
        pool_of(replace(texts, rule=(Condition("religion", term="sikh"),)))
    assert "“religion”" in told.value.why


def test_widened_models_answer_old_codes_as_before(texts):
    assert widened(texts.model, texts.domain, ()) is texts.model
    fed = widened(texts.model, texts.domain, ("A gay person sings.", "A white person fights."))
    assert np.array_equal(fed.predict(texts.rows), texts.model.predict(texts.rows))
    values = texts.domain.attributes[0].values
    new = np.array([[len(values)], [len(values) + 1.0]])
    assert fed.predict(new)[0] > 0.5 > fed.predict(new)[1]

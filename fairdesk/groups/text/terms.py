"""The terms that name somebody in a text, by category."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fairdesk.errors import SpecError

#: The 48 identity terms of TestSGD (Zhang et al., TOSEM 2023, Table 1). Words of one term may
#: stand apart or be joined by a hyphen in a text.
TERMS: dict[str, tuple[str, ...]] = {
    "gender": (
        *("lesbian", "gay", "bisexual", "transgender", "trans", "queer", "lgbt", "lgbtq"),
        *("homosexual", "straight", "heterosexual", "male", "female", "nonbinary"),
    ),
    "race": (
        *("african", "african american", "black", "white", "european", "hispanic", "latino"),
        *("latina", "latinx", "mexican", "canadian", "american", "asian", "indian"),
        *("middle eastern", "chinese", "japanese"),
    ),
    "religion": (
        *("christian", "muslim", "jewish", "buddhist", "catholic", "protestant", "sikh"),
        *("taoist", "atheist"),
    ),
    "age": (
        *("old", "older", "young", "younger", "teenage", "millennial", "middle aged"),
        *("elderly",),
    ),
}

#: Words that go with a term, and change with it: those at the same place stand for each other. Of a
#: word with two counterparts the later one is used before another word: “her car” and “his car”.
WORDS_BESIDE: dict[str, tuple[str, ...]] = {
    "male": (
        *("he", "him", "his", "his", "himself", "man", "men", "boy", "boys", "mr"),
        *("husband", "father", "son", "brother", "uncle", "grandfather"),
    ),
    "female": (
        *("she", "her", "hers", "her", "herself", "woman", "women", "girl", "girls", "mrs"),
        *("wife", "mother", "daughter", "sister", "aunt", "grandmother"),
    ),
}
#: A term with the words that go with it, as an auditor writes it: “male (he, him, his)”.
_BESIDE = re.compile(r"^(?P<term>[^()]*)\((?P<words>[^()]*)\)\s*$")

_BETWEEN_WORDS = re.compile(r"[\s\-\u2010\u2011]+")


def words(term: str) -> tuple[str, ...]:
    """Return the words of a term, or of what was found of it in a text, whatever their case."""
    return tuple(each for each in _BETWEEN_WORDS.split(term.casefold()) if each)


def words_beside(own: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the words that change with each term: the auditor's, or `WORDS_BESIDE` without any.

    Raises
    ------
    SpecError
        When two terms of a category have different numbers of them.
    """
    lists, beside = _parted(own)
    if not any(beside.values()):
        every = {" ".join(words(term)) for each in (lists or TERMS).values() for term in each}
        return WORDS_BESIDE if every.issuperset(WORDS_BESIDE) else {}
    for category, typed in lists.items():
        sizes = {len(beside[term]) for term in typed if beside[term]}
        if len(sizes) > 1:
            raise SpecError(
                f"The terms of the category “{category}” have different numbers of words in "
                "brackets.",
                why="Words at the same place stand for each other when a term is replaced.",
                remedy='Write them like "male (he, him, man)" and "female (she, her, woman)".',
            )
    return {" ".join(words(term)): each for term, each in beside.items() if each}


def _parted(
    own: Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the terms by category without what is in brackets, and that by term."""
    lists, beside = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for category, typed in own.items():
        terms = []
        for text in typed:
            found = _BESIDE.match(text)
            term = found["term"].strip() if found else text
            terms.append(term)
            listed = found["words"].split(",") if found else ()
            beside[term] = tuple(each.strip().casefold() for each in listed if each.strip())
        lists[category] = tuple(terms)
    return lists, beside


def lists_of_terms(own: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the terms to compare: the auditor's own, or the paper's where there are none.

    Parameters
    ----------
    own : mapping of str to sequence of str
        Per category its terms, as somebody typed them, with words that change with a term in
        brackets; a term that a category names twice is taken once.

    Raises
    ------
    SpecError
        When a category has one term only, or two categories share one.
    """
    if not own:
        return TERMS
    own, _ = _parted(own)
    lists: dict[str, tuple[str, ...]] = {}
    owner: dict[tuple[str, ...], str] = {}
    for category, typed in own.items():
        terms = {words(term): " ".join(term.split()) for term in reversed(typed) if words(term)}
        if len(terms) < 2:
            raise SpecError(
                f"The category “{category}” has fewer than two terms.",
                why="A sentence is compared with the same sentence with another term.",
                remedy="Add another term, or omit the category.",
            )
        for term, written in terms.items():
            if owner.setdefault(term, category) != category:
                raise SpecError(
                    f"The term “{written}” is in both the categories “{owner[term]}” and "
                    f"“{category}”.",
                    why="It would not be known which terms can replace it in a sentence.",
                    remedy="Remove it from one of the two.",
                )
        lists[category] = tuple(reversed(terms.values()))
    return lists

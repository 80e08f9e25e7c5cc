"""The vocabulary: its entries, the page filtered by words, and terms found in a text."""

from fairdesk.files import documentation
from fairdesk.manual.html import rendered
from fairdesk.manual.terms import filtered, glossary, term_at, terms_in

PAGE = (documentation() / "terms.md").read_text("utf-8")


def found(text):
    return {text[each.begin : each.end]: each.term.title for each in terms_in(text)}


def test_every_entry_of_the_page_is_a_term():
    entries = PAGE.count("\n:   ")
    assert len(glossary()) == entries > 50
    assert all(each.meaning and each.names for each in glossary())


def test_every_name_is_found_where_it_is_written():
    for term in glossary():
        for name in term.names:
            assert found(f"The {name} here") != {}, name


def test_terms_are_found_in_singular_and_plural_the_longest_first():
    assert found("Two queries for discriminatory pairs of the Input domain.") == {
        "queries": "Query",
        "discriminatory pairs": "Discriminatory pair",
        "Input domain": "Input domain",
    }
    assert list(found("share of the input domain")) == ["share of the input domain"]


def test_abbreviations_are_written_in_capitals_and_words_are_whole():
    assert list(found("a 95 % CI")) == ["CI"]
    assert found("spd ci scores-like prerun") == {}
    assert list(found("the SPD")) == ["SPD"]


def test_other_names_are_those_of_the_entry():
    assert (
        found("its support")["support"] == "Group" or "Subgroup" in found("its support")["support"]
    )
    assert found("held out")["held out"] == "Excluded, held out"


def test_the_term_at_a_place():
    text = "A run of a search."
    assert term_at(text, 2).title == "Run"
    assert term_at(text, 5) is None
    assert term_at(text, text.index("search")).title == "Search"


def test_a_definition_has_no_marks():
    assert not any(sign in each.plain for each in glossary() for sign in "*`")


def test_the_page_is_filtered_by_every_word():
    shown = rendered(filtered(PAGE, "Pareto ACCURACY"), glossary=True)
    assert [each.title for each in shown.sections] == ["Terms", "Mitigation", "Pareto front"]
    assert filtered(PAGE, " ") == PAGE
    nothing = rendered(filtered(PAGE, "zzzz"), glossary=True)
    assert [each.title for each in nothing.sections] == ["Terms"]
    assert nothing.sections[0].text.strip()

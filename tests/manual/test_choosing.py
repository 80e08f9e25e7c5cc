"""Which figure do I need: a tree without loops, whose ends are methods and figures there are."""

import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.manual.choosing import choosing
from fairdesk.manual.html import rendered
from fairdesk.manual.places import CHOICE, FIGURES
from fairdesk.manual.reference import pages

TREE = choosing()


@pytest.fixture(scope="module")
def made():
    return {place: rendered(text) for place, text in pages("").items()}


def walked(key, above=()):
    """Yield the questions on the way to each end, and the end."""
    assert key not in above, "the questions go round"
    for answer in TREE.questions[key].answers:
        assert bool(answer.next) != bool(answer.end), answer
        if answer.end:
            yield (*above, key), answer.end
        else:
            yield from walked(answer.next, (*above, key))


def test_every_question_and_end_is_reached_and_the_tree_is_short():
    ways = list(walked(TREE.first))
    assert {key for above, _ in ways for key in above} == set(TREE.questions)
    assert {end for _, end in ways} == set(TREE.ends)
    assert max(len(above) for above, _ in ways) <= 6
    assert all(len(each.answers) >= 2 for each in TREE.questions.values())


def test_every_end_is_a_method_or_a_figure_there_is_and_says_why(made):
    for end in TREE.ends.values():
        assert end.method in METHODS
        assert bool(end.figure) == bool(end.name)
        assert not end.figure or end.figure in made[FIGURES].anchors
        assert end.why.endswith(".")
        assert end.title
        assert TREE.sources_of(end) or end.figure == "shortfall"


def test_every_source_is_used():
    assert {key for end in TREE.ends.values() for key in end.sources} == set(TREE.sources)


def test_the_page_has_every_question_and_leads_to_every_end(made):
    page = made[CHOICE]
    titles = [each.title for each in page.sections]
    assert [each.text for each in TREE.questions.values()] == titles[1 : len(TREE.questions) + 1]
    for end in TREE.ends.values():
        assert f'href="../{end.place}"' in page.html
    for source in TREE.sources.values():
        assert source in page.sections[-1].text

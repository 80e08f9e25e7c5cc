"""Pages as HTML for the window: what MkDocs is given beyond CommonMark, anchors, and sections."""

import re
from posixpath import dirname, join, normpath

import pytest
from markdown.extensions.toc import slugify

from fairdesk.cli.commands import commands_page
from fairdesk.manual.html import rendered, search, slug
from fairdesk.manual.places import TERMS
from fairdesk.manual.reference import pages


@pytest.fixture(scope="module")
def made():
    return {place: rendered(text, glossary=place == TERMS) for place, text in texts().items()}


def texts():
    return pages(commands_page())


@pytest.mark.parametrize(
    "title", ["3. The protected attributes", "Shown (and not)", "A  –  b_c", "95 % CI"]
)
def test_headings_are_linked_as_on_the_site(title):
    assert slug(title) == slugify(title, "-")


def test_equal_headings_are_told_apart():
    page = rendered("# A\n\n## Part\n\nx\n\n## Part\n\ny\n\n## Named { #here }\n")
    assert [each.anchor for each in page.sections] == ["a", "part", "part_1", "here"]
    assert page.sections[3].title == "Named"
    assert "#here" not in page.html


def test_definitions_remarks_and_code():
    page = rendered(
        "# T\n\n*One* term { #one }\n:   Means `this`,\n    and that.\n\n"
        '!!! note "Mind"\n    First.\n\n    Second.\n\n```text\nname\n:   kept\n```\n',
        glossary=True,
    )
    assert "<dt>" in page.html
    assert '<a name="one"></a><em>One</em> term' in page.html
    assert "<dd>Means <code>this</code>, and that.</dd>" in page.html
    assert re.search(r"<blockquote>\s*<p><strong>Mind</strong></p>\s*<p>First", page.html)
    assert "name\n:   kept" in page.html
    assert page.sections[1].title == "One term"
    assert page.sections[1].text.startswith(" Means this , and that.")


def test_what_mkdocs_is_told_about_a_page_is_not_shown():
    assert "hide" not in rendered("---\nhide:\n  - toc\n---\n\n# T\n").html


def test_no_link_between_pages_is_dead(made):
    dead, seen = [], 0
    for place, page in made.items():
        for link in re.findall(r'href="([^"]+)"', page.html):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = normpath(join(dirname(place), path)) if path else place
            seen += 1
            if target not in made or (anchor and anchor not in made[target].anchors):
                dead.append((place, link))
    assert dead == []
    assert seen > 50


def test_no_marks_are_left(made):
    for place, page in made.items():
        shown = re.sub(r"<pre>.*?</pre>|<code>.*?</code>", "", page.html, flags=re.DOTALL)
        assert "{ #" not in shown, place
        assert "\n:   " not in shown, place
        assert "!!!" not in shown, place


def test_search_finds_every_word_and_titles_first(made):
    hits = search(made, "Impact  RATIO")
    assert hits[0].section.title == "Impact ratio"
    for hit in hits:
        held = f"{hit.section.title} {hit.section.text}".casefold()
        assert "impact" in held
        assert "ratio" in held
    assert {hit.page for hit in hits} > {"reference/figures.md", TERMS}
    assert search(made, "zzzz") == []
    assert search(made, "  ") == []


def test_an_excerpt_is_about_what_was_found(made):
    hit = next(hit for hit in search(made, "clopper") if "clopper" in hit.section.text.casefold())
    assert "clopper" in hit.excerpt.casefold()
    assert len(hit.excerpt) < 150

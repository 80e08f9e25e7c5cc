"""The appendix: what moves there moves once and nothing is lost; left out, it is gone and said."""

import io
import re
from collections import Counter

import msgspec
import pytest
from pypdf import PdfReader

from fairdesk.audit.store.records import Choice
from fairdesk.document.blocks import (
    Callout,
    Chart,
    Fact,
    Facts,
    Grid,
    Heading,
    PairCard,
    Section,
    Text,
    appended,
)
from fairdesk.report.content import choosing
from fairdesk.report.content.choosing import check, chosen, parts
from fairdesk.report.document import make_report, whole_report, with_drawings
from fairdesk.report.render import html
from fairdesk.report.render.pdf import Preview, pdf
from tests.document.test_proofs import DOMAIN, PEOPLE
from tests.report.building import people_store, run_into
from tests.report.pages_building import pair, report
from tests.report.reading import section_of
from tests.report.test_group_sections import GAP, RULES, TABLES, measured

MOVED = Grid(("a",), (("moved",),), (1,), caption="Moved", key="moved", appended=True)
STAYS = msgspec.structs.replace(MOVED, caption="Stays", key="stays", appended=False)
WITHOUT = Choice(left_out=(choosing.APPENDIX,))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("appendix"), ("sex", "job")) as store:
        for seed in range(2):
            run_into(store, "uniform", seed=seed, options={"samples": 100})
        measured(store, "testsgd", RULES)
        measured(store, "groups", TABLES)
        measured(store, "themis-groups", (GAP,))
        measured(store, "certify", (DOMAIN, PEOPLE))
        yield store


def keyed(made):
    """Return every table, chart and pair under its name, as it is but for where it is."""
    return [
        (
            block.key if section.key == choosing.APPENDIX else f"{section.key}/{block.key}",
            msgspec.structs.replace(block, key="", appended=False),
        )
        for section in made.sections
        for block in section.blocks
        if isinstance(block, Grid | Chart | PairCard)
    ]


def blocks_without_headings(made):
    return [
        block
        for section in made.sections
        for block in section.blocks
        if not isinstance(block, Heading | Grid | Chart | PairCard)
    ]


def plain(block):
    """Return a block's words, by which it can be counted."""
    return msgspec.json.encode(block).decode()


def names(made):
    return Counter(name for name, _ in keyed(made))


@pytest.mark.parametrize("template", ["plain", "annex-iv"])
def test_what_moves_moves_once_and_nothing_is_lost(store, template):
    choice = Choice(template=template)
    before = with_drawings(chosen(whole_report(store, choice), choice))
    after = make_report(store, choice)
    there = [
        (f"{section.key}/{block.key}", moves)
        for section in before.sections
        for block, moves in choosing.divided(section)
        if isinstance(block, Grid | Chart | PairCard)
    ]
    wanted = [name for name, moves in there if moves]
    assert len(wanted) > 5
    *others, last = after.sections
    assert last.key == choosing.APPENDIX
    in_it = [each.key for each in last.blocks if isinstance(each, Grid | Chart | PairCard)]
    assert in_it == wanted
    # each under one name, and the same in all but its place
    assert max(names(after).values()) == 1
    assert dict(keyed(after)) == dict(keyed(before))
    # the sections keep their order, so that what refers to them by number still finds them
    assert [each.key for each in others] == [each.key for each in before.sections]
    for section in others:
        pointing = [each.text for each in section.blocks if isinstance(each, Text) and each.place]
        was = section_of(before, section.key)
        assert len(pointing) == any(each for _, each in choosing.divided(was))
    # and so are all other blocks
    assert Counter(map(plain, blocks_without_headings(before))) == Counter(
        plain(each)
        for each in blocks_without_headings(after)
        if not (isinstance(each, Text) and each.place)
    )


def test_left_out_it_is_gone_and_the_limits_say_so(store):
    whole, less = make_report(store), make_report(store, WITHOUT)
    assert names(whole) - names(less) == Counter(
        each.key
        for each in section_of(whole, choosing.APPENDIX).blocks
        if isinstance(each, Grid | Chart | PairCard)
    )
    assert not names(less) - names(whole)
    assert [each.key for each in less.sections] == [each.key for each in whole.sections][:-1]
    assert less.left_out == (choosing.APPENDIX_TITLE,)
    (said,) = (each.text for each in section_of(less, "limits").blocks if isinstance(each, Callout))
    assert choosing.APPENDIX_TITLE in said
    # and nothing points to what is not there
    assert pointers(whole)
    assert not pointers(less)


def pointers(made):
    """Return the keys of the places in the appendix that sections point to."""
    return [
        block.place
        for section in made.sections
        for block in section.blocks
        if isinstance(block, Text) and block.place
    ]


def test_each_section_points_to_its_own_page_of_the_appendix(store):
    made = make_report(store)
    headings = [
        (each.key, each.text)
        for each in section_of(made, choosing.APPENDIX).blocks
        if isinstance(each, Heading) and each.key
    ]
    assert [key for key, _ in headings] == pointers(made)
    number = len(made.sections)
    at = Preview(made).places()[choosing.APPENDIX]
    pages = PdfReader(io.BytesIO(pdf(made))).pages
    printed = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert f"in the appendix: Section {number}.1, page {at}" in printed
    assert re.search(rf'in the appendix: <a href="#[^"]+">{number}\.1 ', html.page(made))


def test_the_parts_of_the_appendix_are_listed_where_it_begins(store):
    made = make_report(store)
    headings = [
        each.text
        for each in section_of(made, choosing.APPENDIX).blocks
        if isinstance(each, Heading)
    ]
    number, at = len(made.sections), Preview(made).places()[choosing.APPENDIX]
    first = " ".join(PdfReader(io.BytesIO(pdf(made))).pages[at - 1].extract_text().split())
    places = [first.index(f"{number}.{place} ") for place in range(1, len(headings) + 1)]
    assert places == sorted(places)
    assert len(places) > 5


def test_a_part_of_the_appendix_is_dropped_like_any_other(store):
    whole = make_report(store)
    key = next(
        each.key
        for each in section_of(whole, choosing.APPENDIX).blocks
        if isinstance(each, Grid | Chart)
    )
    choice = Choice(left_out=(key,))
    check(parts(whole_report(store), choice), choice, final=False)
    less = make_report(store, choice)
    assert names(whole) - names(less) == Counter((key,))


def test_parts_tell_that_the_appendix_can_be_left_out_and_what_goes_with_it(store):
    listed = {part.key: part for part in parts(whole_report(store), WITHOUT)}
    assert not listed[choosing.APPENDIX].shown
    assert not listed[choosing.APPENDIX].required
    check(listed.values(), WITHOUT, final=True)
    there = names(make_report(store, WITHOUT))
    for key, part in listed.items():
        if "/" in key:
            assert part.shown == (key in there)


def test_headings_go_along_and_none_is_left_over_nothing():
    made = choosing.with_appendix(
        report(
            Section("One", (Heading("A"), MOVED, Heading("B"), STAYS), key="one"),
            Section("Two", (Text("Told."), MOVED), key="two"),
            Section("Three", (Text("Told."),), key="three"),
        ),
        omitted=False,
    )
    one, two, three, last = made.sections
    assert [each.text for each in one.blocks if isinstance(each, Heading)] == ["B"]
    assert len(two.blocks) == 2
    assert three.blocks == (Text("Told."),)
    assert [each.text if isinstance(each, Heading) else each.key for each in last.blocks] == [
        *("One: A", "one/moved", "Two", "two/moved")
    ]


def test_a_paragraph_moves_alone():
    told = appended(Text("Told."))
    section = Section("One", (Heading("A"), told, STAYS), key="one")
    one, last = choosing.with_appendix(report(section), omitted=False).sections
    assert one.blocks[:2] == (Heading("A"), STAYS)
    assert one.blocks[2].text == "More in the appendix:"
    assert last.blocks == (Heading("One: A", key=one.blocks[2].place), told)


def test_all_below_a_heading_moves_with_it():
    below = (Text("Told."), Facts((Fact("Name", "Value"),)), MOVED)
    blocks = (Heading("A", appended=True), *below, Heading("B"), Facts((), appended=True), STAYS)
    made = choosing.with_appendix(report(Section("A part", blocks, key="one")), omitted=False)
    one, last = made.sections
    assert [type(each) for each in one.blocks] == [Heading, Grid, Text]
    assert one.blocks[-1].text == "More in the appendix:"
    assert [each.text for each in last.blocks if isinstance(each, Heading)] == [
        *("A part: A", "A part: B")
    ]
    assert last.blocks[1:3] == below[:2]
    # what has the section's name says it once
    again = Section("A part", (Heading("A part, run 1", appended=True), Text("Told.")), key="one")
    made = choosing.with_appendix(report(again), omitted=False)
    (pointing,) = made.sections[0].blocks
    (heading, *_) = made.sections[1].blocks
    assert heading == Heading("A part, run 1", key=pointing.place)
    assert pointing.place


def test_nothing_to_move_makes_no_appendix():
    made = report(Section("One", (Text("Told."), STAYS), key="one"))
    for omitted in (True, False):
        assert choosing.with_appendix(made, omitted=omitted) == made
    assert choosing.APPENDIX not in {part.key for part in parts(made, Choice())}


def test_a_preview_finds_what_moved_by_its_own_name():
    odd = msgspec.structs.replace(STAYS, key="rates-a/b")
    card = pair("pair-1", appended=True)
    made = choosing.with_appendix(
        report(Section("One", (Text("Told."), odd, MOVED, card), key="one")), omitted=False
    )
    places = Preview(made).places()
    assert set(places) == {"one", "one/rates-a/b", "appendix", "one/moved", "one/pair-1"}
    assert places["one/rates-a/b"] < places["one/moved"] <= places["one/pair-1"]

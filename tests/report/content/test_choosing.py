"""What of a report is shown: in all formats the same, and what a reader needs stays."""

import io
import json

import lxml.html
import pytest
from pypdf import PdfReader

from fairdesk.audit.store.records import Choice
from fairdesk.document.blocks import Callout, Chart, Grid, Heading, Report, Section, Text
from fairdesk.errors import ReportError
from fairdesk.report.content.choosing import check, chosen, parts, settled
from fairdesk.report.document import make_report, whole_report
from fairdesk.report.render import html
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.html import structured
from tests import phrases
from tests.report.building import people_store, run_into


def grid(key, *, optional=False):
    return Grid(("a",), (("1",),), (1,), caption=f"Table {key}", key=key, optional=optional)


def chart(key, *, optional=False):
    return Chart("", f"Chart {key}", svg="<svg/>", key=key, optional=optional)


def report(status="Draft", template="plain"):
    return Report(
        title="T",
        header="T",
        kind="Audit",
        status=status,
        identity="FD-1",
        cover=(),
        promise="",
        sections=(
            Section("Summary", (Text("a"),), key="summary"),
            Section(
                "Results",
                (
                    Heading("One"),
                    grid("a"),
                    Heading("Two"),
                    Text("b"),
                    chart("c"),
                    chart("d", optional=True),
                ),
                key="results",
            ),
            Section("Rates", (grid("sex"),), key="rates"),
            Section("Limits", (Text("l"), grid("m")), key="limits"),
        ),
        manifest="{}",
        template=template,
    )


def blocks(made, key):
    (section,) = (each for each in made.sections if each.key == key)
    return [getattr(block, "key", "") or block.text for block in section.blocks]


def test_everything_is_listed_with_what_is_shown():
    choice = Choice(left_out=("results/a",), added=())
    told = {part.key: (part.title, part.section, part.shown) for part in parts(report(), choice)}
    assert list(told) == [
        *("summary", "results", "results/a", "results/c", "results/d"),
        *("rates", "rates/sex", "limits", "limits/m"),
    ]
    assert told["results"] == ("Results", "Results", True)
    assert told["results/a"] == ("Table a", "Results", False)
    assert told["results/c"] == ("Chart c", "Results", True)
    assert told["results/d"] == ("Chart d", "Results", False)
    gone = parts(report(), Choice(left_out=("results",)))
    assert not [part for part in gone if part.key.startswith("results") and part.shown]
    added = parts(report(), Choice(added=("results/d",)))
    assert {part.key: part.shown for part in added}["results/d"]


def test_parts_are_dropped_and_added_and_named():
    assert blocks(chosen(report(), Choice()), "results") == ["One", "a", "Two", "b", "c"]
    made = chosen(report(), Choice(left_out=("results/a", "rates"), added=("results/d",)))
    # nothing is left below the first heading
    assert blocks(made, "results") == ["Two", "b", "c", "d"]
    assert [each.key for each in made.sections] == ["summary", "results", "limits"]
    assert made.left_out == ("Table a", "Rates")


def test_a_heading_at_the_end_with_nothing_below_it_vanishes():
    made = chosen(
        Report(
            *("T", "T", "Audit", "Draft", "FD-1", (), ""),
            (Section("S", (Text("a"), Heading("One"), grid("b")), key="s"),),
            "{}",
        ),
        Choice(left_out=("s/b",)),
    )
    assert blocks(made, "s") == ["a"]


@pytest.mark.parametrize(
    ("template", "final", "stays"),
    [
        ("plain", False, {"limits", "limits/m"}),
        ("plain", True, {"limits", "limits/m"}),
        ("ll144", False, {"limits", "limits/m", "rates", "rates/sex"}),
    ],
)
def test_what_a_reader_needs_stays(template, final, stays):
    made = report("Final" if final else "Draft", template)
    every = Choice(template=template)
    listed = parts(made, every)
    assert {part.key for part in listed if part.required} == stays
    left_out = tuple(part.key for part in listed)
    wanted = settled(Choice(template=template, left_out=left_out), final=final)
    kept = chosen(made, wanted)
    assert {each.key for each in kept.sections} == {key for key in stays if "/" not in key}
    for key in stays:
        with pytest.raises(ReportError, match="cannot be omitted from this report"):
            check(listed, Choice(template=template, left_out=(key,)), final=final)
    others = tuple(key for key in left_out if key not in stays)
    check(listed, Choice(template=template, left_out=others), final=final)


def test_what_each_kind_of_report_always_holds_is_there(store):
    """A kind of report whose sections are called otherwise would have nothing that stays."""
    for template, stays in (
        ("plain", {"limits", "evidence"}),
        ("ll144", {"limits", "evidence", "rates", "unknown", "ll144", "ll144-data"}),
        ("annex-iv", {"limits", "evidence", "sign-off"}),
        ("model-card", {"card-caveats"}),
    ):
        choice = Choice(template=template)
        listed = parts(whole_report(store, choice), choice)
        assert {part.key for part in listed if part.required and "/" not in part.key} == stays
        dropped = next(part for part in listed if not part.required)
        made = make_report(store, Choice(template=template, left_out=(dropped.key,)))
        said = [
            block.text
            for section in made.sections
            if section.key in stays
            for block in section.blocks
            if isinstance(block, Callout)
        ]
        assert any(dropped.title in each for each in said)


def test_an_unknown_part_is_refused_with_near_names():
    listed = parts(report(), Choice())
    for wrong in (Choice(left_out=("result",)), Choice(added=("result",))):
        with pytest.raises(ReportError, match="no part “result”") as caught:
            check(listed, wrong, final=False)
        assert "results" in caught.value.why
        assert "--list-parts" in caught.value.remedy
    with pytest.raises(ReportError) as caught:
        check(listed, Choice(left_out=("\u202e<b>",)), final=False)
    assert "summary" in caught.value.why


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("choosing")) as store:
        run_into(store, "uniform", weights=[[1], [2], [1], [1], [1]], options={"samples": 300})
        yield store


def test_all_formats_hold_the_same(store):
    listed = parts(whole_report(store, Choice()), Choice())
    dropped = next(each for each in listed if each.key.startswith("results/") and each.shown)
    added = next(part for part in listed if not part.shown)
    choice = Choice(left_out=("system", dropped.key), added=(added.key,))
    made = make_report(store, choice)
    assert made.left_out == (phrases.SYSTEM_AND_USE, dropped.title)
    (limits,) = (each for each in made.sections if each.key == "limits")
    assert all(name in limits.blocks[0].text for name in made.left_out)

    held = json.loads(structured(made))
    captions = [
        block["caption"]
        for section in held["sections"]
        for block in section["blocks"]
        if block["type"] in ("grid", "chart")
    ]
    titles = [section["title"] for section in held["sections"]]
    assert added.title.rstrip("…") in " ".join(captions)
    assert dropped.title not in captions
    assert phrases.SYSTEM_AND_USE not in titles

    document = lxml.html.document_fromstring(html.page(made))
    told = [
        " ".join(each.text_content().split())
        for each in document.xpath("//figcaption | //table[not(@class)]/caption")
    ]
    for caption in captions:
        assert any(" ".join(caption.split()) in each for each in told)
    assert dropped.title not in told
    headings = [each.text_content() for each in document.xpath("//main//h2")]
    assert [each.partition(" ")[2] for each in headings] == titles
    assert [int(each.partition(" ")[0]) for each in headings] == list(range(1, len(titles) + 1))

    outline = PdfReader(io.BytesIO(pages.pdf(made))).outline
    bookmarks = [each.title for each in outline if not isinstance(each, list)]
    for title in titles:
        assert any(title in each for each in bookmarks)
    assert not any(phrases.SYSTEM_AND_USE in each for each in bookmarks)


def test_a_choice_that_no_longer_fits_does_no_harm(store):
    """What was kept may name charts of a run that another template does not show."""
    made = make_report(store, Choice(left_out=("results/gone-9", "nothing"), added=("pairs/x",)))
    assert made.left_out == ()
    assert made.sections == make_report(store, Choice()).sections


def test_a_kept_wish_to_drop_the_limits_is_not_followed(store):
    made = make_report(store, Choice(left_out=("limits", "evidence", "evidence/runs")))
    assert {"limits", "evidence"} <= {each.key for each in made.sections}
    assert made.left_out == ()

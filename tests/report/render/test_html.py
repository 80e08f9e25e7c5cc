"""The HTML report: everything in it, nothing that runs or loads, and readable without eyes."""

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path

import lxml.html
import msgspec
import pytest

import fairdesk.report
from fairdesk.audit.store.records import Choice
from fairdesk.charts.kinds.bars import Counts
from fairdesk.document.blocks import (
    Callout,
    Chart,
    Code,
    Fact,
    Facts,
    Formula,
    Grid,
    Heading,
    Note,
    PairCard,
    PairRow,
    Report,
    Section,
    SignatureLine,
    Statement,
    Text,
)
from fairdesk.report.content.passages import passages
from fairdesk.report.document import drawn, make_report
from fairdesk.report.render.html import _formulas, _inline, page
from tests.report.building import people_store, run_into

HOSTILE = (
    "<b>bold</b>",
    "</style><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }} {% raw %}",
    "&lt;i&gt; &amp;",
    "=cmd()",
    "שלום עולם",
    "融資",
    "x" * 300,
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'
DOT = '<defs><pattern id="p"/></defs><rect id="r" fill="url(#p)"/><use href="#r"/>'


def report_of(*blocks, text="A title", status="Draft", **more):
    sections = (
        Section("Summary", (Text(text),), key="summary"),
        Section(text, blocks, key="results"),
    )
    return Report(
        title=text,
        header=text,
        kind="Audit",
        status=status,
        identity="FD-1",
        cover=(Fact(text, text), Fact("SHA-256", "0f" * 32, exact=True)),
        promise="What is in it.",
        sections=sections,
        manifest='{"a": "</script>"}',
        moment="2026-11-21T10:00:00+00:00",
        **more,
    )


def blocks_of(text):
    """Return one block of every kind, each with the text wherever one can be."""
    row = PairRow(text, text, text, changed=True)
    return (
        Text(text, lead=text),
        Heading(text),
        Statement("1,305", text, (text,), "example", "summary"),
        Callout("Note.", text),
        Facts((Fact(text, text),)),
        Grid(
            (text, ""), ((text, text), ("", text)), (1, 1), (1,), text, "grid", evidence="observed"
        ),
        Chart(
            text,
            text,
            svg=drawn(Counts("", "rows", [(text, 3)], 9)).svg,
            key="bars",
            evidence="estimated",
        ),
        PairCard(text, text, text, text, text, (row,), (row,)),
        Formula("impact", text, text, text),
        Code(text),
        Note(text, "2026", text, text, "https://example.org/a"),
        SignatureLine(text, text, text),
        Statement("2", text, evidence="proven"),
    )


def parsed(report):
    return lxml.html.document_fromstring(page(report))


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("html")) as store:
        run_into(store, "uniform", weights=[[1], [2], [1], [1], [1]], options={"samples": 500})
        yield make_report(store, Choice())


def strings(value):
    """Yield all texts in plain data, but keys, drawings and the manifest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in ("svg", "key", "type", "evidence", "place", "widths", "right"):
                yield from strings(each)


def squeezed(text):
    return " ".join(text.split())


def test_everything_that_the_report_says_stands_in_it(real):
    document = parsed(real)
    for each in document.xpath("//svg | //style"):
        each.drop_tree()
    # an alternative text of a formula is an attribute, and so is the name of a figure
    alts = {math.get("alttext") for math in document.iter("math")}
    alts |= set(document.xpath("//div[@class='statement']/@aria-label"))
    text = squeezed(document.text_content())
    told = [squeezed(each) for each in strings(msgspec.to_builtins(real)["sections"])]
    assert len(told) > 300
    assert not [each for each in told if each not in text and each not in alts]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_texts_are_no_markup(hostile):
    plain, document = (
        parsed(report_of(*blocks_of("harmless"), text="harmless")),
        parsed(report_of(*blocks_of(hostile), text=hostile)),
    )
    tags = [
        [each.tag for each in one.iter() if isinstance(each.tag, str)] for one in (plain, document)
    ]
    drawn = {"text", "tspan", "rect", "path"}
    assert [tag for tag in tags[1] if tag not in drawn] == [
        tag for tag in tags[0] if tag not in drawn
    ]
    assert document.find(".//h1").text_content() == hostile
    assert not [name for each in document.iter() for name in each.attrib if name.startswith("on")]


def test_nothing_in_it_runs_loads_or_leads_away(real):
    made = page(real)
    document = lxml.html.document_fromstring(made)
    assert not document.xpath("//script | //iframe | //object | //link | //form | //base")
    assert not document.xpath("//*[@src]")
    assert not [
        each.get("href")
        for each in document.xpath("//*[@href]")
        if not each.get("href").startswith(("#", "data:application/json;base64,"))
        and not (each.tag == "a" and "noreferrer" in each.get("rel", ""))
    ]
    assert "@import" not in made
    assert not re.search(r"url\((?!#)", made)


def test_the_policy_lets_in_its_own_styles_only(real):
    document = parsed(real)
    (policy,) = document.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    style = document.find(".//style").text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy
    assert not document.xpath("//*[@style]"), "the policy would not let them in"


@pytest.mark.parametrize("made", ["real", "every kind"])
def test_it_can_be_read_without_eyes(made, real):
    document = parsed(real if made == "real" else report_of(*blocks_of("told")))
    assert document.get("lang") == "en"
    ids = document.xpath("//@id")
    assert len(ids) == len(set(ids))
    for name in ("aria-labelledby", "aria-describedby"):
        assert set(document.xpath(f"//@{name}")) <= set(ids)
    leading = [each[1:] for each in document.xpath("//a/@href") if each.startswith("#")]
    assert set(leading) <= set(ids)
    assert document.find(".//body")[0].get("href") == "#report", (
        "the first link skips to the report"
    )
    levels = [int(each.tag[1]) for each in document.xpath("//h1 | //h2 | //h3 | //h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in document.iter("table"):
        assert table.find("caption").text_content().strip()
        assert all(each.get("scope") in ("col", "row") for each in table.iter("th"))
        assert all(each.text_content().strip() for each in table.iter("th"))
    drawings = [each for each in document.iter("svg") if each.get("aria-hidden") != "true"]
    assert drawings
    assert all(each.get("role") == "img" and each.get("aria-labelledby") for each in drawings)
    assert all(each.get("alttext") for each in document.iter("math"))
    assert len(document.xpath("//header | //nav | //main | //footer")) == 4
    sections = document.xpath("//main/section")
    assert all(each.get("aria-labelledby") for each in sections)


def test_contents_lead_to_every_section_and_heading(real):
    document = parsed(real)
    links = [each.get("href")[1:] for each in document.xpath("//nav//a")]
    assert links == [
        each.get("id") for each in document.xpath("//main/section/h2 | //main/section/h3")
    ]
    # those of the first page are headings too, but not of the contents
    (first,) = document.xpath("//header/section[@class='board']")
    assert first.xpath("h2")
    assert first.xpath("h3")


def test_a_draft_says_so_and_a_final_report_does_not():
    draft, final = (parsed(report_of(status=status)) for status in ("Draft", "Final"))
    assert "Draft" in draft.find(".//p[@class='banner']").text_content()
    assert "Draft" in draft.find(".//title").text
    assert "Draft" not in final.text_content()
    assert final.find(".//p[@class='status']").text == "Final"


def test_what_things_rest_on_is_told_by_word_and_by_mark():
    told = blocks_of("told")
    document = parsed(report_of(*told, Text("A ratio of 0.6 (95 % CI 0.5 to 0.7); p = 0.03.")))
    shapes = {}
    for mark in document.xpath("//span[contains(@class, 'evidence')]"):
        kind = mark.get("class").split()[1]
        assert mark.text_content().strip() == kind
        shapes[kind] = tuple(each.tag for each in mark.find("svg")), kind in ("example", "proven")
    assert set(shapes) == {"example", "observed", "estimated", "proven"}
    assert len(set(shapes.values())) == 4
    # each is explained, and so are confidence intervals and p
    explained = "//aside[@aria-labelledby='marks']//dd"
    assert len(document.xpath(explained)) == 6
    # where the report has any
    assert len(parsed(report_of(*told)).xpath(explained)) == 4


def test_the_manifest_can_be_saved_from_it(real):
    (link,) = parsed(real).xpath("//a[@download='manifest.json']/@href")
    assert base64.b64decode(link.partition("base64,")[2]).decode() == real.manifest


def test_what_was_left_out_is_said():
    made = page(
        report_of(left_out=("A chart", "<b>A table</b>"), redacted="Only synthetic instances.")
    )
    assert "A chart; &lt;b&gt;A table&lt;/b&gt;" in made
    assert "Only synthetic instances." in made


def test_a_logo_is_a_picture_with_a_name():
    (logo,) = parsed(report_of(logo="data:image/png;base64,AAAA")).iter("img")
    assert logo.get("alt") == "Logo"
    assert logo.get("src") == "data:image/png;base64,AAAA"


def test_the_same_report_gives_the_same_text(real):
    assert page(real) == page(real)


def test_every_formula_of_the_report_is_drawn():
    told = passages("definitions").values()
    used = {each.formula for subject in told for each in subject if each.formula}
    assert len(used) > 15
    assert used <= set(_formulas())
    assert all(
        each.startswith("<math") and ("<mi" in each or "<mtext" in each)
        for each in _formulas().values()
    )
    # MathML of typst has no lines over letters: they are accents
    package = Path(fairdesk.report.__file__).parent
    look = (package / "render" / "look" / "formulas.typ").read_text(encoding="utf-8")
    assert not re.search(r"\b(overline|underline|cancel|underbrace|overbrace)\(", look)


def test_a_formula_that_nobody_drew_is_told_in_words():
    made = page(report_of(Formula("nosuch", "Name", "x is <y>", "what it means")))
    assert "<p>x is &lt;y&gt;</p>" in made


def test_the_names_in_a_drawing_are_its_own():
    made = _inline(SVG.format(DOT), "part-1") + _inline(SVG.format(DOT), "part-2")
    ids = re.findall(r' id="([^"]+)"', made)
    assert ids == ["part-1-p", "part-1-r", "part-2-p", "part-2-r"]
    assert re.findall(r"url\(#([^)]+)\)", made) == ["part-1-p", "part-2-p"]
    assert re.findall(r'href="#([^"]+)"', made) == ["part-1-r", "part-2-r"]


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<foreignObject/>",
        "<image href='https://example.org/a.png'/>",
        "<a href='https://example.org'/>",
        "<rect onload='alert(1)'/>",
        "<use href='https://example.org/a.svg#b'/>",
        "<style>@import 'https://example.org'</style>",
        "<rect style='fill: red'/>",
        "<animate/>",
    ],
)
def test_a_drawing_that_is_more_than_a_drawing_is_not_let_in(inside):
    with pytest.raises(ValueError, match="a drawing holds"):
        _inline(SVG.format(inside), "part-1")


def test_a_link_leads_to_https_only():
    made = page(report_of(Note("A", "2026", "b", "c", "javascript:alert(1)")))
    assert not [
        each
        for each in lxml.html.document_fromstring(made).xpath("//a/@href")
        if "javascript" in each
    ]

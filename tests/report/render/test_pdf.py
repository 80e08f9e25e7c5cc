"""The look: all that is told stands on a page, in fonts of its own, accessible, byte for byte."""

import io
import re
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from pypdf import PdfReader
from pypdf.generic import DictionaryObject, IndirectObject

from fairdesk.charts.kinds.bars import Counts
from fairdesk.document.blocks import (
    Callout,
    Chart,
    Code,
    Fact,
    Facts,
    Grid,
    Heading,
    PairRow,
    Section,
    SignatureLine,
    Statement,
    Text,
)
from fairdesk.files import resources
from fairdesk.report.document import drawn
from fairdesk.report.render import pdf as pages
from fairdesk.wording import language
from tests import phrases
from tests.report.pages_building import HOSTILE, LAW, SCRIPTS, pair, report

ROOT = Path(__file__).parents[3]


def read(made, standard="ua-1+a-3a"):
    return PdfReader(io.BytesIO(pages.pdf(made, standard)))


def text_of(reader):
    """Return the text without spaces: where lines and marks break does not matter."""
    return re.sub(r"\s+", "", "".join(page.extract_text() for page in reader.pages))


def squeezed(text):
    return re.sub(r"\s+", "", text)


@pytest.fixture(scope="module")
def reader():
    return read(report())


@pytest.fixture(scope="module")
def text(reader):
    return text_of(reader)


def tree(reader):
    """Return all elements of the structure of a tagged document, in their order."""
    found = []

    def walk(node):
        node = node.get_object() if isinstance(node, IndirectObject) else node
        if isinstance(node, list):
            for one in node:
                walk(one)
        elif isinstance(node, DictionaryObject):
            if "/S" in node:
                found.append(node)
            if "/K" in node:
                walk(node["/K"])

    walk(reader.trailer["/Root"]["/StructTreeRoot"]["/K"])
    return found


def fonts(reader):
    """Return the fonts of a document: name and whether it is embedded."""
    found = {}
    for page in reader.pages:
        stack = [page["/Resources"]]
        while stack:
            held = stack.pop().get_object()
            for font in held.get("/Font", {}).values():
                base = font.get_object()
                inner = (
                    base["/DescendantFonts"][0].get_object() if "/DescendantFonts" in base else base
                )
                about = inner.get("/FontDescriptor", {})
                about = about.get_object() if hasattr(about, "get_object") else about
                found[str(base["/BaseFont"])] = (
                    any(key in about for key in ("/FontFile", "/FontFile2", "/FontFile3"))
                    or base["/Subtype"] == "/Type3"
                )
            for inner in held.get("/XObject", {}).values():
                resource = inner.get_object().get("/Resources")
                if resource is not None:
                    stack.append(resource)
    return found


# what is told


def test_statements_tell_what_they_rest_on_and_where_more_is_told(text):
    for word in ("example", "estimated", "observed", "proven"):
        assert f"{word}" in text
    for told in ("37,950", "Run1:112,507tried.", "Section2,page3", "Section3,page"):
        assert told in text


def test_marks_are_explained_where_they_are_used():
    told = squeezed(language.FRAME["means estimated"])
    assert told in text_of(read(report()))
    plain = report(Section("Data", (Text("Nothing to tell."),)))
    assert told not in text_of(read(plain))


def test_each_kind_of_evidence_has_its_own_mark():
    drawn = {
        kind: pages.Preview(report(Section("x", (Statement("1", "found", (), kind),)))).pictures()
        for kind in ("example", "observed", "estimated", "proven")
    }
    assert len({shown[-1] for shown in drawn.values()}) == len(drawn)


@pytest.mark.parametrize("words", range(10, 16))
def test_a_number_is_not_divided_for_the_name_beside_it(words):
    said = Statement("At least 9.18 %", "A sentence.", label="word " * words)
    lines = read(report(Section("x", (said,)))).pages[-1].extract_text().splitlines()
    assert any("At least 9.18 %" in line for line in lines)


def test_user_text_is_never_markup(text):
    assert text.count(squeezed(HOSTILE)) == 2


def test_notes_name_their_source_once(reader, text):
    assert text.count("[1]") == 3  # two notes and the list
    assert "[2]" not in text
    assert text.count(squeezed(LAW[0])) == 1
    links = [
        annotation.get_object()["/A"]["/URI"]
        for page in reader.pages
        for annotation in page.get("/Annots", [])
        if "/URI" in annotation.get_object().get("/A", {})
    ]
    assert set(links) == {LAW[1]}


def test_lines_to_sign_on_stay_with_their_heading():
    lines = tuple(SignatureLine(f"Person {i}", "Reviewer", "") for i in range(4))
    for paragraphs in range(20, 30, 3):
        filling = (Text("A line."),) * paragraphs
        made = report(Section("Filling", filling), Section("Sign-off", lines, key="sign-off"))
        found = read(made)
        where = [i for i, page in enumerate(found.pages) if "Person 3" in page.extract_text()]
        assert re.search(r"2\s*Sign-off", found.pages[where[0]].extract_text())


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        (Text("What it is about."), 30),
        # a number; nor is a row of a short table left alone
        (Statement("0.42", "What it is about.", label="Ratio"), 8),
    ],
)
def test_a_sentence_stays_with_its_table(said, rows):
    lines = tuple((f"row {i}",) for i in range(rows))
    grid = Grid(("Column head",), lines, (1.0,), (), "A caption")
    for paragraphs in range(14, 34, 3):
        filling = Section("Filling", (Text("A line."),) * paragraphs)
        for page in read(report(filling, Section("Told", (said, grid)))).pages:
            shown = page.extract_text()
            assert "row 0" in shown or "What it is about." not in shown
            assert rows > 8 or ("row 0" in shown) == ("row 7" in shown)


def test_a_term_in_a_sentence_leads_to_its_definition(reader):
    (defined,) = (
        number
        for number, page in enumerate(reader.pages)
        if "The rate by the highest." in page.extract_text()
    )
    (used,) = (page for page in reader.pages if "ratio of women." in page.extract_text())
    targets = [each.get_object()["/Dest"].get_object() for each in used["/Annots"]]
    # sections have names of their own
    places = [each[0].get_object() for each in targets if isinstance(each, list)]
    assert defined in map(reader.get_page_number, places)


def test_a_line_about_what_was_not_run_is_no_page_of_its_own():
    long = (Text("A line."), Text("Another line."))
    not_run = (Text("a search.", lead="Not run:"),)
    made = report(
        Section("First", long, fresh=True),
        Section("Second", not_run, fresh=True),
        Section("Third", long, fresh=True),
        Section("Fourth", long, fresh=True),
    )
    pages = [page.extract_text() for page in read(made).pages][2:]
    assert len(pages) == 2
    assert "Not run" in pages[0]
    assert "Third" in pages[0]
    assert "Fourth" in pages[1]


def test_no_head_of_a_table_stands_alone():
    rows = tuple((f"row {i}", str(i)) for i in range(30))
    for paragraphs in range(16, 32, 4):
        grid = Grid(("Column head", "Number"), rows, (1.0, 0.0), (1,), "A caption")
        made = report(Section("Filling", ((Text("A line."),) * paragraphs) + (grid,)))
        for page in read(made).pages:
            shown = page.extract_text()
            if "Column head" in shown or "A caption" in shown:
                assert "Column head" in shown
                assert re.search(r"row \d", shown)


def test_tables_fill_the_page_they_begin_on():
    rows = tuple((f"row {i}", str(i)) for i in range(10))
    grid = Grid(("Name", "Number"), rows, (1.0, 0.0), (1,), "A caption")
    made = report(Section("Many", (grid,) * 20, fresh=True))
    # ten rows, a head and a caption take less than a quarter of a page
    assert len(read(made).pages) <= 2 + 6


def test_heads_are_repeated():
    rows = tuple((f"row {i}", str(i)) for i in range(120))
    grid = Grid(("Column head", "Number"), rows, (1.0, 0.0), (1,), "A caption")
    shown = [page.extract_text() for page in read(report(Section("x", (grid,)))).pages]
    with_rows = [page for page in shown if re.search(r"row \d", page)]
    assert len(with_rows) > 2
    assert all("Column head" in page for page in with_rows)
    assert sum("A caption" in page for page in shown) == 1


def test_numbers_stand_below_each_other_at_the_decimal_sign():
    def columns(*cells):
        grid = Grid(("n",), tuple((cell,) for cell in cells), (1.0,), (0,))
        found = {}

        def note(said, matrix, _tm, _font, _size):
            if said.strip() in cells:
                found[said.strip()] = matrix[4]

        read(report(Section("x", (grid,)))).pages[-1].extract_text(visitor_text=note)
        return found

    at = columns("1.5", "1.25", "9", "–", "3.75*")
    assert at["3.75*"] == pytest.approx(at["1.5"], abs=0.01)
    assert at["1.5"] == pytest.approx(at["1.25"], abs=0.01)
    assert at["9"] == pytest.approx(at["1.5"], abs=0.01)
    # what is no number stands at the right edge
    assert at["–"] > at["1.5"]
    mixed = columns("1.5 (1 to 2)", "1.25 (1 to 2)")
    assert mixed["1.25 (1 to 2)"] < mixed["1.5 (1 to 2)"]


# the frame


def test_draft_is_said_on_every_page_until_it_is_final():
    drafts, final = read(report()), read(report(status="Final"))
    assert all("Draft" in page.extract_text() for page in drafts.pages)
    assert phrases.DRAFT in drafts.pages[0].extract_text()
    assert not any("Draft" in page.extract_text() for page in final.pages)
    assert "Final" in final.pages[0].extract_text()


def test_every_page_has_its_number_and_the_id_of_the_report(reader):
    total = len(reader.pages)
    for i, page in enumerate(reader.pages):
        shown = page.extract_text()
        assert f"{i + 1} of {total}" in shown
        assert "FD-0000-1111-2222" in shown


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("us-letter", (612, 792))])
def test_paper(paper, size):
    made = report(paper=paper)
    preview = pages.Preview(made)
    for page in read(made).pages:
        assert (round(page.mediabox.width), round(page.mediabox.height)) == size
        assert preview.size == pytest.approx(tuple(map(float, page.mediabox[2:])), abs=0.01)


def test_what_was_left_out_is_said():
    assert "Omittedbytheauditor:Chart:Counts;Table:Rates." in text_of(
        read(report(left_out=("Chart: Counts", "Table: Rates")))
    )


# accessible and kept


def test_information_for_archives_and_readers():
    found = read(report(author="Dr. Ada Meyer"))
    catalogue = found.trailer["/Root"]
    assert catalogue["/MarkInfo"]["/Marked"]
    assert catalogue["/Lang"] == "en-GB"
    assert found.metadata.title == "Who gets credit?"
    assert found.metadata.author == "Dr. Ada Meyer"
    assert found.metadata.subject == phrases.INDIVIDUAL_AUDIT
    assert "FD-0000-1111-2222" in found.metadata.keywords
    assert found.metadata.creation_date.isoformat().startswith("2026-11-22T02:20:00")
    assert "/Author" not in read(report()).metadata


@pytest.mark.parametrize(
    ("standard", "promises"),
    [
        ("ua-1+a-3a", {"pdfuaid:part": "1", "pdfaid:part": "3", "pdfaid:conformance": "A"}),
        ("ua-1", {"pdfuaid:part": "1"}),
        ("a-3a", {"pdfaid:part": "3", "pdfaid:conformance": "A"}),
        ("a-2a", {"pdfaid:part": "2", "pdfaid:conformance": "A"}),
        ("none", {}),
    ],
)
def test_standards(standard, promises):
    made = pages.document(report(), standard)
    assert (made.standard, made.remark) == (standard, "")
    found = PdfReader(io.BytesIO(made.content))
    told = found.trailer["/Root"]["/Metadata"].get_data().decode()
    assert dict(re.findall(r"<(pdf(?:ua|a)id:\w+)>(\w+)<", told)) == promises
    # PDF/A-2 allows no attachment: then the document says where the manifest is
    assert bool(found.attachments) == (standard != "a-2a")
    assert ("doesnotallowattachments" in text_of(found)) == (standard == "a-2a")


def test_structure(reader):
    elements = tree(reader)
    kinds = [str(element["/S"]) for element in elements]
    assert {
        "/H1",
        "/H2",
        "/Table",
        "/TR",
        "/TH",
        "/TD",
        "/Figure",
        "/Link",
        "/Formula",
    } <= set(kinds)
    for element in elements:
        if element["/S"] in {"/Figure", "/Formula"}:
            assert element["/Alt"]
    # a table, a pair and the labels; the pair has a heading of its own
    assert kinds.count("/Table") == 3
    assert kinds.count("/H2") == 2


def test_all_fonts_are_our_own_and_embedded(reader):
    used = fonts(reader)
    assert len(used) > 5
    assert all(used.values())
    known = (
        "SourceSerif|SourceSans|SourceCode|NotoSans|NotoEmoji|DroidSans|Nanum|NewCM|DejaVuSansMono"
    )
    assert all(re.search(known, name.replace(" ", "")) for name in used), used


def test_every_script_is_drawn_and_can_be_copied(text):
    plain = unicodedata.normalize("NFKC", text)
    # a reader of PDFs gives these from left to right
    for script in (
        "Latin",
        "Greek",
        "Cyrillic",
        "Armenian",
        "Georgian",
        "Chinese",
        "Korean",
    ):
        assert squeezed(SCRIPTS[script]) in plain, script


@pytest.mark.parametrize("word", SCRIPTS.values(), ids=SCRIPTS)
def test_every_script_keeps_the_promises_everywhere(word):
    bars = drawn(Counts("", word, [(word, 1)], 2))
    made = report(
        Section(
            word,
            (
                Heading(word),
                Text(word, word),
                Statement(word, word, (word,)),
                Facts((Fact(word, word),)),
                Grid((word,), ((word,),), (1.0,), caption=word),
                Chart(bars.alt, word, svg=bars.svg),
                pair(rows=(PairRow(word, word, word, True),), title=word, note=word),
            ),
        ),
        title=word,
        header=word,
        author=word,
    )
    assert pages.document(made).standard == "ua-1+a-3a"


def test_a_promise_that_cannot_be_kept_is_lowered_and_that_is_said():
    made = pages.document(report(Section("x", (Text("\U00013000 and \U00012000"),))))
    assert made.standard == "none"
    assert "PDF/UA-1 and PDF/A-3a" in made.remark
    found = PdfReader(io.BytesIO(made.content))
    assert squeezed(made.remark) in text_of(found)
    assert "pdfuaid" not in found.trailer["/Root"]["/Metadata"].get_data().decode()


def test_fonts_have_their_licences():
    folder = resources() / "fonts"
    told = (folder / "SOURCE.md").read_text(encoding="utf-8")
    for font in folder.glob("*.[to]tf"):
        assert re.search(rf"`{re.escape(font.name)}`", told) or any(
            f"`{font.name[:n]}*`" in told for n in range(5, len(font.name))
        ), font.name
    for licence in re.findall(r"\(licences/([\w-]+\.txt)\)", told):
        held = (folder / "licences" / licence).read_text(encoding="utf-8")
        assert "SIL OPEN FONT LICENSE" in held or "Apache License" in held


# the same bytes


def test_the_same_report_gives_the_same_bytes_in_another_process_and_time_zone(tmp_path):
    made = report()
    first = pages.pdf(made)
    assert pages.pdf(made) == first
    (tmp_path / "report.json").write_bytes(msgspec.json.encode(made))
    program = (
        "import sys, msgspec, pathlib\n"
        "from fairdesk.report.render import pdf as pages\n"
        "from fairdesk.document.blocks import Report\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "made = msgspec.json.decode((folder / 'report.json').read_bytes(), type=Report)\n"
        "(folder / 'report.pdf').write_bytes(pages.pdf(made))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        check=True,
        cwd=ROOT,
        env={"TZ": "Asia/Kathmandu", "LANG": "C", "PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert (tmp_path / "report.pdf").read_bytes() == first


@pytest.mark.skipif(sys.platform != "linux", reason="reads how much memory a process has")
def test_earlier_reports_are_not_kept_in_memory():
    program = (
        "from pathlib import Path\n"
        "from tests.report.pages_building import report\n"
        "from fairdesk.document.blocks import Grid, Section\n"
        "from fairdesk.report.render import pdf as pages\n"
        "def pages_in_memory():\n"
        "    return int(Path('/proc/self/statm').read_text().split()[1])\n"
        "taken = [pages_in_memory()]\n"
        "for number in range(6):\n"
        "    rows = tuple((f'{number} {row}', f'{row / 7:.3f}') for row in range(1_000))\n"
        "    grid = Grid(('Rule', 'Share'), rows, (1.0, 0.0), (1,), 'All')\n"
        "    pages.pdf(report(Section('Rules', (grid,))))\n"
        "    taken.append(pages_in_memory())\n"
        "print(taken)\n"
        "first, later = taken[1] - taken[0], taken[-1] - taken[1]\n"
        "assert later < first, taken\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


# what people write


def test_very_long_names_break_and_stay_on_the_page():
    name = "attribute_" + "x" * 290
    row = PairRow(name, "v" * 300, "w" * 300, True)
    bars = drawn(Counts("", "x", [(name, 1)], 2))
    made = report(
        Section(
            name,
            (
                Statement("1", f"person changes with “{name}”.", (name,)),
                Grid((name, "n"), ((name, "1"),), (1.0, 0.0), (1,), name),
                Chart(bars.alt, name, svg=bars.svg),
                pair(rows=(row,), title=name),
            ),
        ),
        title=name,
        cover=(Fact(name, name),),
    )
    found = read(made)
    width = float(found.pages[0].mediabox.width)
    for page in found.pages:
        page.extract_text(visitor_text=lambda said, cm, _tm, _f, _s: edges(said, cm, width))
    assert text_of(found).count(name) >= 9


def edges(said, matrix, width):
    # no line is as long as a whole name: each was broken
    assert len(said.strip()) < 140
    if said.strip():
        assert 0 < matrix[4] < width


def test_thousands_of_rows():
    rows = tuple((f"rule {i}", f"{i / 7:.{i % 4}f}") for i in range(1_000))
    made = report(Section("Rules", (Grid(("Rule", "Share"), rows, (1.0, 0.0), (1,), "All rules"),)))
    found = read(made)
    assert len(found.pages) > 15
    assert "rule999" in squeezed(found.pages[-1].extract_text())


def test_a_cell_of_thousands_of_characters():
    cell = "word " * 3_000 + "z" * 5_000
    made = report(Section("x", (Grid(("Text", "n"), ((cell, "1"),), (1.0, 0.0)),)))
    found = text_of(read(made))
    assert found.count("word") == 3_000
    # the feet of pages stand between
    assert found.count("z") == 5_000


def test_nothing_long_runs_over_the_foot_of_a_page():
    long = "word " * 2_000
    for block in (
        Statement("1", f"{long} last", (long,), "observed"),
        Callout("Note.", f"{long} last"),
        Code(f"{long} last"),
        pair(note=f"{long} last"),
    ):
        heights = []

        def note(said, matrix, _tm, _font, _size, heights=heights):
            if "word" in said:
                heights.append(matrix[5])

        for page in read(report(Section("x", (block,)))).pages:
            page.extract_text(visitor_text=note)
        # the foot of a page is 26 mm high
        assert len(heights) > 40
        assert min(heights) > 70


def test_what_cannot_be_seen_or_would_turn_the_text_around_is_shown_as_a_sign():
    sneaky = "a\u200bb\u202ec\x00d\ue000e\ufefff\ud800g\U000f0000h"
    shown = text_of(read(report(Section("x", (Text(sneaky), Grid((sneaky,), (), (1.0,)))))))
    assert shown.count("a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh") == 2
    # what joins letters of other scripts is kept
    assert pages.printable("می\u200cشود") == "می\u200cشود"


# the preview


def test_preview_draws_every_page_as_large_as_it_is_asked():
    made = report()
    preview = pages.Preview(made)
    small = preview.pictures(0.5)
    assert len(small) == len(read(made).pages)
    for picture in small:
        width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
        assert picture.startswith(b"\x89PNG")
        assert width == pytest.approx(preview.size[0] / 2, abs=1)
        assert height == pytest.approx(preview.size[1] / 2, abs=1)


def test_preview_tells_where_everything_stands():
    made = report()
    found = read(made)
    places = pages.Preview(made).places()
    assert set(places) == {
        *("summary", "outcomes", "outcomes/sex", "outcomes/course-1"),
        *("pairs", "pairs/finding-1", "pairs/labels", "sign-off"),
    }
    for key, told in {
        "summary": "37,950",
        "outcomes/sex": "Rates by sex",
        "outcomes/course-1": "Counts by script",
        "pairs/finding-1": "Ask the vendor.",
        "sign-off": "Who signs",
    }.items():
        assert told in found.pages[places[key] - 1].extract_text()


def test_preview_can_be_as_small_as_a_stamp():
    assert len(pages.Preview(report()).pictures(0.01)) > 4


def test_preview_can_be_asked_by_several_threads():
    preview = pages.Preview(report())
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(preview.pictures, [0.2] * 4))
        assert pool.submit(preview.places).result()
    assert all(each == drawn[0] for each in drawn)


def test_keys_are_never_labels():
    sneaky = "a> #panic() <b"
    grid = Grid(("n",), (("1",),), (1.0,), key=sneaky)
    made = report(Section("x", (grid,), key=sneaky))
    assert pages.Preview(made).places() == {sneaky: 2, f"{sneaky}/{sneaky}": 2}

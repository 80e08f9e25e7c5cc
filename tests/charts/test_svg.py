"""Charts as SVG: every shape, every script, and colours by what they are for."""

from xml.etree import ElementTree as ET

from fairdesk.charts import svg
from fairdesk.charts.kinds.forest import Forest
from fairdesk.charts.shapes import Box, Disc, Path, Tint, Words
from fairdesk.charts.svg import ON_PAPER
from tests.charts.reading import PAPER
from tests.gui.counting import BOSTON, table

SVG = "{http://www.w3.org/2000/svg}"


def read(shapes, palette=ON_PAPER, size=9.0):
    return ET.fromstring(svg.document(100, 50, svg.drawn(shapes, palette, size), "told & shown"))


def test_every_shape_is_drawn_where_it_was_put_in_its_colours():
    root = read(
        [
            Box(1, 2, 30, 4, Tint("consistent", 0.5, "ground"), "line", 2.0, (4, 2)),
            Disc(5, 6, 3, "ground", "discriminatory"),
            Path((((0, 0), (10, 5)), ((1, 1), (2, 2))), "ink"),
            Path((((0, 0), (4, 0), (2, 3)),), "ink", fill="card"),
        ]
    )
    told, box, disc, lines, polygon = root
    assert told.text == "told & shown"
    assert (box.get("fill"), box.get("stroke")) == ("#80b8d8", ON_PAPER["line"])
    assert (box.get("width"), box.get("stroke-dasharray")) == ("30.00", "4 2")
    assert (disc.get("cx"), disc.get("fill"), disc.get("stroke")) == ("5.0", "#ffffff", "#D55E00")
    assert lines.get("d") == "M0.0 0.0L10.0 5.0M1.0 1.0L2.0 2.0"
    assert lines.get("fill") == "none"
    assert polygon.get("d").endswith("Z")


def test_words_stand_in_the_middle_of_their_line_and_small_ones_are_small():
    whole, small = read([Words(1, 10, "a"), Words(1, 10, "b", size=0.5, bold=True)], size=12.0)[1:]
    assert (whole.get("y"), whole.get("font-size")) == ("14.0", None)
    assert (small.get("y"), small.get("font-size")) == ("12.0", "6.0")
    assert small.get("font-weight") == "bold"


def test_texts_of_any_script_stay_texts():
    names = ["White & male", "性别：女性", "الجنس"]
    counts = {(name,): each for name, each in zip(names, BOSTON.values(), strict=True)}
    forest = Forest(table(counts))
    root = read(forest.lay_out(PAPER).shapes)
    said = {"".join(each.itertext()) for each in root.iter(f"{SVG}text")}
    assert set(names) <= said
    assert {each.text for each in root.iter(f"{SVG}tspan")} == {"性别：女性"}

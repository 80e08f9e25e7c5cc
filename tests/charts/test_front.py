"""The front of a repair: marks by kind, names apart from each other, everything inside."""

from fairdesk.charts.kinds.front import Front, FrontPoint, Place, beside
from fairdesk.charts.shapes import Disc, Marked, Path, Tint, Words
from tests import phrases
from tests.charts.reading import PAPER, paper, shapes


def point(name, kind, x, y, front=False, key=0):
    return FrontPoint(name, kind, (x - 0.2, x, x + 0.2), (y - 0.8, y, y + 0.8), front, key)


POINTS = (
    point("Original model", "imported", 3.9, 84.6),
    point("Retrained baseline", "retrained", 4.0, 84.7, front=True, key=1),
    point("2.9 % added", "portion", 1.8, 84.3, front=True, key=2),
    point("Reweighing & more", "other", 4.7, 84.2, key=3),
)


def front(points=POINTS):
    return Front(points, "share", "accuracy")


def marks(drawn):
    """Return the marks with corners, and the round ones."""
    return shapes(drawn, Path, fill="ground"), shapes(drawn, Disc, fill="ground")


def middle(mark):
    (corners,) = mark.lines
    return [sum(each[i] for each in corners) / len(corners) for i in (0, 1)]


def test_the_front_is_told_in_words_with_intervals():
    alt = front().alt().replace("\u00a0", " ")
    assert (
        "2.9 % added: 1.80 % (1.60 to 2.00), accuracy 84.3 % (83.5 to 85.1), "
        f"{phrases.ON_THE_FRONT}" in alt
    )
    assert "Original model: 3.90 % (3.70 to 4.10), accuracy 84.6 % (83.8 to 85.4);" in alt


def test_kinds_are_told_apart_by_shape_and_the_front_by_being_strong():
    (square, diamond, triangle), (dot,) = marks(front().lay_out(PAPER))
    assert square.colour == Tint("ink", 0.6)
    assert triangle.colour == Tint("series 3", 0.6)
    assert (dot.edge, diamond.colour) == ("series 0", "ink")
    assert [len(each.lines[0]) for each in (square, diamond, triangle)] == [4, 4, 3]


def test_every_point_is_named_apart_from_the_others_and_inside_the_drawing():
    crowd = [point(f"{i}.{i} % added", "portion", 2 + 0.3 * i, 84 + 0.1 * i) for i in range(7)]
    for on in (PAPER, paper(620.0)):
        drawn = front((*POINTS, *crowd)).lay_out(on)
        named = {each.name for each in (*POINTS, *crowd)}
        places = [
            (each.x, each.y, on.extent(each.text))
            for each in shapes(drawn, Words)
            if each.text in named
        ]
        assert len(places) == len(named)
        assert all(x >= 0 and x + wide <= on.width + 4 for x, _y, wide in places)
        assert all(0 < y < drawn.height for _x, y, _wide in places)
        for i, (x, y, wide) in enumerate(places):
            for other, down, reach in places[:i]:
                apart = x >= other + reach - 1 or other >= x + wide - 1
                assert apart or abs(y - down) >= 0.8 * on.lead


def test_a_name_stands_at_its_own_mark_and_at_no_other_one():
    others = [Place(x - 9, y - 6, 18, 12) for x, y in ((80, 104), (120, 96), (125, 106))]
    place = beside((100.0, 100.0), (60.0, 12.0), [], others, Place(0.0, 0.0, 460.0, 300.0))
    assert not any(place.shared(each) for each in others)
    for each in others:
        middle = each.x + each.wide / 2, each.y + each.tall / 2
        across = max(place.x - middle[0], middle[0] - place.x - place.wide, 0.0)
        down = max(place.y - middle[1], middle[1] - place.y - place.tall, 0.0)
        assert max(across, down) > 8


def test_only_what_is_estimated_is_hatched():
    hatched, counted = (
        shapes(Front(POINTS, "share", "accuracy", "%", each).lay_out(PAPER), Path)
        for each in (True, False)
    )
    assert len(hatched) - len(counted) == len(POINTS)


def test_what_lies_left_is_less_and_what_lies_up_is_more():
    (square, *_), (dot,) = marks(front().lay_out(PAPER))
    assert dot.x < middle(square)[0]
    assert dot.y > middle(square)[1] + 3.4


def test_marks_are_walked_by_discrimination_and_by_accuracy():
    drawn = front().lay_out(PAPER)
    assert drawn.across == [[2, 0, 1, 3]]
    assert drawn.down == [[1, 0, 2, 3]]
    assert all(spot.holds(spot.x + spot.wide / 2, spot.y + 1) for spot in drawn.spots)


def test_what_is_picked_has_a_ring_and_strong_intervals():
    drawn = front().lay_out(PAPER, Marked(2))
    (ring,) = shapes(drawn, Disc, edge="accent")
    _corners, (dot,) = marks(drawn)
    assert (ring.x, ring.y) == (dot.x, dot.y)
    assert len(shapes(drawn, Path, colour=Tint("series 0", 0.9))) == 1


def test_points_without_any_extent_are_drawn_all_the_same():
    still = front([FrontPoint("one", "imported", (0.0, 0.0, 0.0), (100.0, 100.0, 100.0))])
    alt = still.alt().replace("\u00a0", " ")
    assert "one: 0.0 % (0.0 to 0.0), accuracy 100.0 % (100.0 to 100.0)" in alt
    assert "nan" not in str(still.lay_out(PAPER).shapes)

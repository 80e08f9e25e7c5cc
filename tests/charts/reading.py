"""What tests read in a chart that is laid out."""

from fairdesk.charts.shapes import Marked, Paper, Words
from fairdesk.report import document

#: The width of a page of a report.
PAPER = document.paper()


def paper(width=700.0):
    """Return paper on which every sign is as wide as every other."""
    return Paper(width, 15.0, lambda text, size, _bold: 7.0 * size * len(text))


def laid(drawing, width=700.0, marked=None):
    """Lay out a chart."""
    return drawing.lay_out(paper(width), marked or Marked())


def texts(drawn):
    """Return what is written, with plain spaces."""
    return [each.text.replace("\u00a0", " ") for each in drawn.shapes if isinstance(each, Words)]


def shapes(drawn, kind, **having):
    """Return the shapes of a kind that have such attributes."""
    return [
        each
        for each in drawn.shapes
        if isinstance(each, kind)
        and all(getattr(each, name) == value for name, value in having.items())
    ]

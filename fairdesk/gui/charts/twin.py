"""The numbers of a chart as a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from fairdesk.gui.kit.tables import aligned, head_columns, read_only


class Twin(QTableWidget):
    """Shows a chart's numbers."""

    def __init__(self) -> None:
        super().__init__()
        read_only(self, "", line=7)

    def show_rows(
        self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], room: int
    ) -> None:
        """Show rows in so much room; where there are words too, these get what numbers leave."""
        self.setAccessibleName(f"{title}, as a table")
        self.setRowCount(len(rows))
        self.setColumnCount(len(head))
        numbers = [place for place in range(len(head)) if _holds_numbers(rows, place)]
        head_columns(self, head, numbers)
        for number, row in enumerate(rows):
            for place, text in enumerate(row):
                item = QTableWidgetItem(_grouped(text) if _is_number(text) else text)
                item.setTextAlignment(aligned(number=place in numbers))
                self.setItem(number, place, item)
        header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
        needed = sum(
            max(self.sizeHintForColumn(place), header.sectionSizeHint(place)) + 1
            for place in range(len(head))
        )
        room -= 2 * self.frameWidth()
        # what is a little wider than the room is scrolled: a number that is cut is none
        words = len(numbers) < len(head)
        fits = words and needed <= 1.5 * room
        header.setStretchLastSection(needed <= room)
        for place in range(len(head)):
            narrow = fits or (words and place in numbers)
            mode = modes.ResizeToContents if narrow else modes.Stretch
            header.setSectionResizeMode(place, mode)


def _holds_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    texts = [row[place].replace(",", "") for row in rows]
    return any(texts) and all(_is_number(text) for text in texts if text)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _grouped(text: str) -> str:
    """Put commas between a number's thousands; its digits stay as they are."""
    whole, point, rest = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.removeprefix('-') or '0'):,}{point}{rest}"

"""One term: how texts fare with it, where it stands in the data, and what flips."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from fairdesk.audit.store.store import Store
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.subgroups import Flip, TermRate
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words

#: So many sentences of the data are read for a term, and so many letters around it are shown.
_MOST, _AROUND = 20, 160
_WORDS = re.compile(r"\w+|\W+")
#: Sentences are alike again where so many words and what is between them are, at most so many on.
_ALIKE, _APART = 3, 40
#: A sentence in stretches, and whether each is marked.
Pieces = list[tuple[str, bool]]


def changed(one: str, other: str) -> tuple[Pieces, Pieces]:
    """Cut two sentences into stretches that they share, and those that differ, which are marked.

    They are read side by side, for they differ in a few terms only: a comparison that allows for
    anything takes seconds where a text is long.
    """
    first, second = _WORDS.findall(one), _WORDS.findall(other)
    left: Pieces = []
    right: Pieces = []
    i = j = 0
    while i < len(first) or j < len(second):
        alike = 0
        while first[i + alike : i + alike + 1] == second[j + alike : j + alike + 1] != []:
            alike += 1
        skip, skip_other = _until_alike(first[i + alike :], second[j + alike :])
        for span, words_, start, stop in (
            (left, first, i + alike, i + alike + skip),
            (right, second, j + alike, j + alike + skip_other),
        ):
            shared, differing = "".join(words_[start - alike : start]), "".join(words_[start:stop])
            span.extend(piece for piece in ((shared, False), (differing, True)) if piece[0])
        i, j = i + alike + skip, j + alike + skip_other
    return left, right


def _until_alike(one: list[str], other: list[str]) -> tuple[int, int]:
    """Tell after how many words two sentences go on alike; all of them where they do not."""
    for both in range(2 * _APART):
        for skip in range(max(0, both - _APART), min(both, _APART) + 1):
            following = one[skip : skip + _ALIKE]
            if following == other[both - skip : both - skip + _ALIKE]:
                return min(skip, len(one)), min(both - skip, len(other))
    return len(one), len(other)


def shortened(pieces: Sequence[tuple[str, bool]], around: int = _AROUND) -> Pieces:
    """Leave out what is far from any marked stretch of a long sentence."""
    spans = []
    for place, (text, marked) in enumerate(pieces):
        first, last = place == 0, place == len(pieces) - 1
        keep = around if first or last else 2 * around
        if marked or len(text) <= keep + 1:
            spans.append((text, marked))
        elif first:
            spans.append((f"…{text[-around:]}", False))
        elif last:
            spans.append((f"{text[:around]}…", False))
        else:
            spans.append((f"{text[:around]} … {text[-around:]}", False))
    return spans


class Marked(parts.Markup):
    """A sentence with some stretches marked. It comes from a file: escaped, never markup."""

    def __init__(self, pieces: Sequence[tuple[str, bool]]) -> None:
        super().__init__()
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumWidth(120)
        self.write(lambda: _markup(pieces))
        self.setAccessibleName("".join(text for text, _marked in pieces))


def _markup(pieces: Sequence[tuple[str, bool]]) -> str:
    style = f"background-color:{theme.colours().tint}; font-weight:600; text-decoration:underline"
    return "".join(
        f'<span style="{style}">{html.escape(text)}</span>' if marked else html.escape(text)
        for text, marked in shortened(pieces)
    ).replace("\n", " ")


@dataclass(frozen=True)
class Occurring:
    """Sentences of the data with a term.

    Attributes
    ----------
    category, term : str
        Which.
    sentences : tuple[tuple[tuple[str, bool], ...], ...]
        Some of them, the term marked.
    rows : tuple[int, ...]
        Their rows in the data, from 1.
    """

    category: str
    term: str
    sentences: tuple[tuple[tuple[str, bool], ...], ...]
    rows: tuple[int, ...]


def occurring(
    store: Store, column: str, lists: dict[str, tuple[str, ...]], category: str, term: str
) -> Occurring:
    """Look for sentences of the data that hold a term."""
    # only who looks at a term needs it
    from fairdesk.groups.text.sentences import Lexicon  # noqa: PLC0415

    lexicon = Lexicon(lists)
    wanted = (list(lists).index(category), lists[category].index(term))
    table = store.table()
    place = table.index(column)
    values, codes = table.columns[place].values, table.codes[:, place]
    sentences, rows = [], []
    for row, code in enumerate(codes.tolist()):
        named = None if np.isnan(code) else lexicon.find(values[int(code)])
        if named is None or wanted not in named.terms:
            continue
        pieces = [(named.pieces[0], False)]
        for found, which, after in zip(named.found, named.terms, named.pieces[1:], strict=True):
            pieces += [(found, which == wanted), (after, False)]
        sentences.append(tuple(piece for piece in pieces if piece[0]))
        rows.append(row + 1)
        if len(rows) == _MOST:
            break
    return Occurring(category, term, tuple(sentences), tuple(rows))


class TermDetail(QWidget):
    """A term, the sentences that flip, and those of the data that hold it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._wanted: tuple[int, str, str] | None = None
        self._shown: tuple[int, TermRate] | None = None
        self._said = Statement()
        self._flips = layouts.column(spacing=theme.GAP)
        self._banner = parts.Banner()
        self._behind = layouts.column(spacing=theme.NEAR)
        layouts.column(
            self._said,
            self._flips,
            self._banner,
            self._behind,
            layouts.stretch(),
            on=self,
            spacing=theme.GAP,
        )

    def show_term(self, run: int, term: TermRate) -> None:
        """Show another term of a run."""
        if self._shown == (run, term):
            return
        self._shown = (run, term)
        self._said.say(
            f"▨ {term.category}: {term.term}",
            subgroup_words.term_sentence(self._session.spec, term),
        )
        parts.clear(self._flips)
        if term.examples:
            shown = words.number(len(term.examples))
            self._flips.addWidget(parts.heading("Decision changes"))
            of = f"{shown} of {words.number(term.flips)}, those with the largest score differences"
            self._flips.addWidget(parts.quiet(f"●● Examples: {of}."))
        for each in term.examples:
            self._flips.addWidget(self._flip(term, each))
        wanted = (run, term.category, term.term)
        if wanted != self._wanted:
            self._wanted = wanted
            parts.clear(self._behind)
            self._session.store.ask(
                lambda store: _sentences(store, run, term),
                self._show_sentences,
                self._banner.tell,
                key="sentences behind a term",
            )

    def _show_sentences(self, found: Occurring | None) -> None:
        parts.clear(self._behind)
        if (
            found is None
            or self._wanted is None
            or self._wanted[1:] != (found.category, found.term)
        ):
            return
        self._banner.clear()
        self._behind.addWidget(parts.heading("Sentences in the data with this term"))
        if not found.rows:
            self._behind.addWidget(
                parts.quiet("□ None: sentences with this term were made by replacing another term.")
            )
            return
        count = words.counted(len(found.rows), "sentence")
        self._behind.addWidget(parts.quiet(f"□ Observed: the first {count}."))
        for row, pieces in zip(found.rows, found.sentences, strict=True):
            number = parts.Words(f"row {words.number(row)}", tone="quiet", size=0.88, wrap=False)
            line = layouts.row(
                layouts.at(number, Qt.AlignmentFlag.AlignTop),
                layouts.grow(Marked(pieces)),
                spacing=theme.NEAR,
            )
            self._behind.addLayout(line)

    def _flip(self, term: TermRate, flip: Flip) -> QWidget:
        """Put both sentences side by side, their decisions and scores below them."""
        spec = self._session.spec
        called = dict(zip(spec.decisions, self._session.decisions, strict=False))
        card = parts.Card(margin=theme.GAP)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.WIDE)
        grid.setVerticalSpacing(theme.TIGHT)
        left, right = changed(flip.text, flip.other)
        for place, (name, pieces, decision, score) in enumerate(
            (
                (term.term, left, flip.decision, flip.score),
                (flip.other_term, right, flip.other_decision, flip.other_score),
            )
        ):
            grid.addWidget(parts.Words(f"with “{name}”", tone="quiet", size=0.88), 0, place)
            grid.addWidget(Marked(pieces), 1, place, Qt.AlignmentFlag.AlignTop)
            said = f"{called.get(decision, decision)}  ·  {words.score(spec, score)}"
            grid.addWidget(parts.Words(said, strong=True), 2, place)
            grid.setColumnStretch(place, 1)
        card.body.addLayout(grid)
        row = parts.Words(f"from row {words.number(flip.row + 1)}", tone="quiet", size=0.85)
        card.body.addWidget(row)
        card.setAccessibleName(subgroup_words.flip_sentence(flip, called))
        return card


def _sentences(store: Store, run: int, term: TermRate) -> Occurring | None:
    """Look for the sentences behind a term of a run, with that run's own lists of terms."""
    from fairdesk.groups.text.terms import lists_of_terms  # noqa: PLC0415 - only who looks needs it

    spec = next((each.spec for each in store.runs() if each.id == run), None)
    if spec is None or not spec.text:
        return None
    lists = lists_of_terms(spec.terms)
    if term.term not in lists.get(term.category, ()):
        return None
    return occurring(store, spec.text, lists, term.category, term.term)

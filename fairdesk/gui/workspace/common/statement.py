"""One thing that was measured or proven: its kind with a mark, the sentence, what it rests on."""

from __future__ import annotations

from PySide6.QtCore import Qt

from fairdesk.gui.kit import parts

#: The mark and the word of each type of evidence.
MARKS = {
    "proven": "■ proven",
    "estimated": "▨ estimated",
    "observed": "□ observed",
    "example": "●● example",
    "": "",
}


def marked(evidence: str) -> str:
    """Return the mark and the word of a type of evidence, as a line begins with it."""
    sign, _, word = MARKS[evidence].partition(" ")
    return f"{sign} {word.capitalize()}".strip()


class Statement(parts.Card):
    """A card with a sentence that is not to be overlooked."""

    def __init__(self) -> None:
        super().__init__()
        self._kind = parts.Words(tone="accent", strong=True, wrap=False)
        self._sentence = parts.Words(size=1.12, strong=True)
        self._more = parts.quiet()
        for words in (self._sentence, self._more):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self._kind, self._sentence, self._more):
            self.body.addWidget(widget)

    def say(self, kind: str, sentence: str, more: str = "") -> None:
        """Say another thing."""
        self._kind.say(kind)
        self._sentence.setText(sentence)
        self._more.say(more)
        self.setAccessibleName(": ".join(filter(None, (kind, sentence))))

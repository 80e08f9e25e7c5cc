"""Small building blocks that every page shares: words, cards, messages, a fold, a busy line."""

from fairdesk.gui.kit.parts.areas import asked, make_room, open_dialog, resize_on_screen, scrolled
from fairdesk.gui.kit.parts.buttons import action, in_order, push_button, why_not
from fairdesk.gui.kit.parts.cards import (
    Banner,
    Busy,
    Card,
    DropZone,
    Fold,
    Hairline,
    Stack,
    clear,
    empty_page,
)
from fairdesk.gui.kit.parts.fields import bounded, calm, labelled, offer, roomy
from fairdesk.gui.kit.parts.words import Elided, Markup, Words, heading, quiet, short, title

__all__ = [
    "Banner",
    "Busy",
    "Card",
    "DropZone",
    "Elided",
    "Fold",
    "Hairline",
    "Markup",
    "Stack",
    "Words",
    "action",
    "asked",
    "bounded",
    "calm",
    "clear",
    "empty_page",
    "heading",
    "in_order",
    "labelled",
    "make_room",
    "offer",
    "open_dialog",
    "push_button",
    "quiet",
    "resize_on_screen",
    "roomy",
    "scrolled",
    "short",
    "title",
    "why_not",
]

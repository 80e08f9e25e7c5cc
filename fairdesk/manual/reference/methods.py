"""The page of the methods, made of their catalogue."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import ASSUMPTIONS, PURPOSES, Method
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.options import Option, options_of
from fairdesk.manual.places import option_place
from fairdesk.manual.reference.markup import plain, table


def overview() -> str:
    """Return a table of all methods."""
    rows = [
        (f"[`{key}`](#{key})", method.title, PURPOSES[method.answers].title, method.description)
        for key, method in METHODS.items()
    ]
    return table(("Key", "Method", "Purpose", "What it does"), rows)


def methods() -> str:
    """Return a section for each method, with its options; each has an anchor."""
    parts = []
    for kind, purpose in PURPOSES.items():
        parts.append(f"## {purpose.title}\n")
        parts.append(f"{purpose.question}\n")
        parts += [_method(each) for each in METHODS.values() if each.answers is kind]
    return "\n".join(parts)


def _method(method: Method) -> str:
    facts = (
        ("What it shows", method.tells),
        ("What it cannot show", method.cannot),
        ("Source", method.paper),
        ("Cost", f"{method.cost[:1].upper()}{method.cost[1:]}."),
        ("Needs", method.needed),
        ("Assumes", ASSUMPTIONS[method.repeats]),
        ("In parallel", method.division.sentence),
    )
    options = [
        (
            f'<a id="{_anchor(method, each)}"></a>`{each.name}`',
            f"**{each.title}.** {each.help}",
            each.takes,
            f"{each.default}",
        )
        for each in options_of(method.options)
    ]
    return "\n".join(
        (
            f"### {method.title} {{ #{method.key} }}\n",
            f"`{method.command}`\n",
            f"{method.description}\n",
            *(f"{name}\n:   {plain(text)}\n" for name, text in facts),
            table(("Option", "Meaning", "Values", "Default"), options),
        )
    )


def _anchor(method: Method, option: Option) -> str:
    return option_place(method.key, option.name).partition("#")[2]

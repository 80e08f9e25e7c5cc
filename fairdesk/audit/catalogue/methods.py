"""The methods there are, and which of them are off for a model or a domain.

Where each is implemented is known to `fairdesk.audit.catalogue.implementations` alone, so that
listing methods loads none of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from fairdesk.audit.catalogue.entries import ENTRIES
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, Method, QuestionKind, Repeats
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError, did_you_mean
from fairdesk.groups.options import MOST_NAMES
from fairdesk.models.model import Capability, ModelCard
from fairdesk.repeatability import Repeatability

#: A field of a form takes numbers up to this where an option has no limit.
_MOST = 2**31 - 1
#: How near a field comes to a limit that is itself not allowed.
_NEAREST = 0.001


@dataclass(frozen=True)
class Option:
    """One option of a method.

    Attributes
    ----------
    name : str
        As in the paper.
    title, help : str
        For people. The help ends with the symbol and its place in the paper.
    default : float or str
        As in the paper.
    takes : str
        What it can be, in words: ``a whole number from 1 to 1,000``.
    kind : type
        The annotated type, which `msgspec.convert` checks a value against.
    whole : bool
        Whether it is a whole number.
    low, high : float
        The least and the greatest number that a form offers.
    choices : tuple[str, ...]
        Of an option that is a word: those that it can be, as they are declared.
    networks : bool
        Whether only a network that is trained has it.
    symbol : str
        The paper's, if it has one.
    """

    name: str
    title: str
    help: str
    default: float | str
    takes: str
    kind: Any
    whole: bool = False
    low: float = -_MOST
    high: float = _MOST
    choices: tuple[str, ...] = ()
    networks: bool = False
    symbol: str = ""

    @property
    def heading(self) -> str:
        """The title with the name, and the paper's symbol where that is another."""
        names = dict.fromkeys(filter(None, (self.symbol, self.name)))
        return f"{self.title}  ({', '.join(names)})"

    def read(self, value: object) -> float | str:
        """Return a value, a number or a text that is one, as the option's type.

        Raises
        ------
        msgspec.ValidationError
            When it does not fit.
        """
        read: float | str = msgspec.convert(value, type=self.kind, strict=False)
        return read


def options_of(struct: type[msgspec.Struct]) -> tuple[Option, ...]:
    """Describe the fields of a method's options, in their order."""
    return tuple(_described(struct, field) for field in msgspec.structs.fields(struct))


def option_named(options: Iterable[Option], name: str) -> Option:
    """Return an option by its name, which it has to have."""
    return next(each for each in options if each.name == name)


@cache
def _words() -> dict[str, dict[str, dict[str, Any]]]:
    """Read what options are called: by struct, or by ``any``, and by field."""
    with Path(__file__).with_name("options.toml").open("rb") as file:
        return tomllib.load(file)


def _described(struct: type, field: msgspec.structs.FieldInfo) -> Option:
    named = ["any", *(each.__name__ for each in reversed(struct.__mro__))]
    words = {k: v for name in named for k, v in _words().get(name, {}).get(field.name, {}).items()}
    info = msgspec.inspect.type_info(field.type)
    if isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    described = {
        "name": field.name,
        "title": words.get("title", field.name),
        "help": words.get("help", "") + _in_paper(words.get("symbol", ""), words.get("source", "")),
        "default": field.default,
        "kind": field.type,
        "networks": words.get("networks", False),
        "symbol": words.get("symbol", ""),
    }
    match info:
        case msgspec.inspect.LiteralType():
            choices = get_args(field.type)
            takes = " or ".join(f"“{word}”" for word in choices)
            return Option(**described, takes=takes, choices=choices)
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            whole = isinstance(info, msgspec.inspect.IntType)
            step = 1 if whole else _NEAREST
            low = info.ge if info.ge is not None else None if info.gt is None else info.gt + step
            high = info.le if info.le is not None else None if info.lt is None else info.lt - step
            return Option(
                **described,
                takes=_range(info),
                whole=whole,
                low=-_MOST if low is None else low,
                high=_MOST if high is None else high,
            )
    raise TypeError(f"an option is a number or a word, not {field.type}")


def _in_paper(symbol: str, source: str) -> str:
    """Say what the paper calls an option, and where."""
    if not symbol:
        return f" Paper: {source}." if source else ""
    return f" In the paper: {symbol} ({source})." if source else f" In the paper: {symbol}."


def _range(info: msgspec.inspect.IntType | msgspec.inspect.FloatType) -> str:
    """Say which numbers a type takes: ``a whole number from 1 to 1,000``."""
    text = "a whole number" if isinstance(info, msgspec.inspect.IntType) else "a number"
    if info.ge is not None:
        text += f" from {info.ge:,}"
    if info.gt is not None:
        text += f" above {info.gt:,}"
    if info.le is not None:
        text += f" to {info.le:,}" if info.ge is not None else f", at most {info.le:,}"
    if info.lt is not None:
        text += f", below {info.lt:,}"
    return text


#: By their keys, in the order in which they are shown.
METHODS: dict[str, Method] = {entry.key: entry for entry in ENTRIES}


#: Why a method is off, by what the model cannot do.
_LACKS = {
    Capability.DECIDES: "there is no model to query, only a table of its decisions",
    Capability.SCORES: "the model returns a decision only, and this method needs a score",
    Capability.GRADIENTS: "the model does not provide gradients of its score",
    Capability.LAYERS: "the layers of the model are not available",
    Capability.TREES: "the model is not a tree or an ensemble of trees",
    Capability.TEXT: "the model does not read text",
}


def why_off(
    method: Method, card: ModelCard, domain: Domain | None = None, *, text: bool = False
) -> str:
    """Say in a sentence why a method is off for a model, or a domain; empty when it is not.

    ``text``: whether it is to compare terms in a text.
    """
    lacking = [_LACKS[need] for need in method.needs if need not in card.can]
    lacking += filter(None, (unrepeatable(method, card.repeatability, text=text),))
    if domain is not None:
        # what repairs a rule set works with the people, or the texts, in it
        repairs_groups = method.answers is QuestionKind.REPAIR and method.reads
        about_groups = method.answers in ABOUT_GROUPS or repairs_groups
        obstacles = ("" if about_groups else domain.obstacle, method.obstacle(domain))
        lacking += filter(None, obstacles)
    return f"“{method.title}” is not available: {'; '.join(lacking)}." if lacking else ""


def unrepeatable(method: Method, found: Repeatability | None, *, text: bool = False) -> str:
    """Say in a clause why a method is off for a model that is not repeatable; empty when it is not.

    Parameters
    ----------
    found : Repeatability, optional
        What came of querying rows again.
    text : bool
        Whether it is to compare terms in a text: then the same sentence is queried more than once.
    """
    if found is None or found.holds or method.repeats is Repeats.ANY:
        return ""
    if found.batch:
        return "the model’s output for a row depends on the other rows queried with it"
    if method.repeats is Repeats.INDEPENDENT and not text:
        return ""
    return "the same row does not always receive the same output from the model"


def remark(method: Method, card: ModelCard, domain: Domain | None = None) -> str:
    """Say in a sentence what is special about a method on a model or domain; mostly empty."""
    many = [
        f"“{each.name}” has {len(each.values):,} categories"
        for each in (domain.grouping if domain is not None else ())
        if each.kind is Kind.NOMINAL and len(each.values) > MOST_NAMES
    ]
    if method.key == "testsgd" and many:
        return (
            f"{', '.join(many)}. All sets of categories are tested up to {MOST_NAMES}; beyond "
            "that: single categories, all but one, and those with the highest or the lowest rates "
            "together."
        )
    if card.repeatability is not None and not card.repeatability.holds:
        return (
            "The model is not repeatable: each decision is one of several that the same row "
            "may receive. Every query is counted with the output that it received."
        )
    if method.key == "maft" and card.scores == "labels":
        return (
            "The model returns a decision only, not a score: MAFT then uses one-hot outputs, "
            "as its paper proposes, and finds a gradient only at the decision boundary."
        )
    return ""


def method_named(key: str) -> Method:
    """Return a method.

    Raises
    ------
    SpecError
        When there is none of that name; the message lists those there are.
    """
    try:
        return METHODS[key]
    except KeyError:
        raise SpecError(
            f"There is no method “{key}”.",
            remedy=did_you_mean(key, METHODS, f"The methods are: {', '.join(METHODS)}."),
            setting="method",
        ) from None


#: Options of runs in earlier audits that decide nothing any more.
_GONE = {("fairify", "pruning")}


def parse_options(method: str, raw: AnyMapping[str, object]) -> msgspec.Struct:
    """Make a method's options of names and values; those left out have their default.

    Parameters
    ----------
    method : str
        A key of `METHODS`.

    Raises
    ------
    SpecError
        For an unknown method or name, or a value that does not fit, with what would.
    """
    kind = method_named(method).options
    raw = {name: value for name, value in raw.items() if (method, name) not in _GONE}
    known = {each.name: each for each in options_of(kind)}
    values: dict[str, object] = {}
    for name, value in raw.items():
        if name not in known:
            raise SpecError(
                f"The method “{method}” has no option “{name}”.",
                remedy=did_you_mean(name, known, f"Its options are: {', '.join(known)}."),
                setting="options",
            )
        try:
            values[name] = known[name].read(value)
        except msgspec.ValidationError:
            raise SpecError(
                f"The option “{name}” cannot be “{value}”.",
                remedy=f"Give {known[name].takes}.",
                setting="options",
            ) from None
    return kind(**values)

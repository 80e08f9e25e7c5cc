"""A method's options, read off their struct: for forms, command line, report and checks alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

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
    return tuple(_described(field) for field in msgspec.structs.fields(struct))


def option_named(options: Iterable[Option], name: str) -> Option:
    """Return an option by its name, which it has to have."""
    return next(each for each in options if each.name == name)


def _described(field: msgspec.structs.FieldInfo) -> Option:
    info, said, extra = msgspec.inspect.type_info(field.type), {}, {}
    if isinstance(info, msgspec.inspect.Metadata):
        said, extra = info.extra_json_schema or {}, info.extra or {}
        info = info.type
    described = {
        "name": field.name,
        "title": said.get("title", field.name),
        "help": said.get("description", "") + _in_paper(**extra),
        "default": field.default,
        "kind": field.type,
        "networks": bool(extra.get("networks")),
        "symbol": extra.get("symbol", ""),
    }
    match info:
        case msgspec.inspect.LiteralType():
            choices = get_args(get_args(field.type)[0]) if said else get_args(field.type)
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


def _in_paper(symbol: str = "", source: str = "", **_more: object) -> str:
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

"""Work that is done step by step: whoever waits for it tells how far it is, or ends it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

#: Yields between its steps, and returns what it made.
Steps = Generator[None, None, Made]


def at_once(in_steps: Callable[Given, Steps[Made]]) -> Callable[Given, Made]:
    """Return what does the same without a stop."""

    @wraps(in_steps)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        steps = in_steps(*args, **kwargs)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                returned: Made = end.value
                return returned

    return made

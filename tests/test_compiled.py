"""How loops are compiled: what is a part of others, and what makes the compiler repeat itself."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, types
from numba.core.registry import CPUDispatcher

from fairdesk.audit.sandbox.kernel_cache import MODULES, PARTS
from fairdesk.compiled import ONE, ZERO, inner, outer, put, shared


def is_part(thing: object) -> bool:
    return isinstance(thing, CPUDispatcher) and thing.targetoptions.get("no_cpython_wrapper", False)


def is_constant(argument: ast.expr, module: ModuleType) -> bool:
    """Whether the compiler knows the whole number, which has a type of its own then."""
    if isinstance(argument, ast.UnaryOp):
        return is_constant(argument.operand, module)
    if isinstance(argument, ast.Name):
        return type(getattr(module, argument.id, None)) is int
    return isinstance(argument, ast.Constant) and type(argument.value) is int


@pytest.mark.parametrize("name", [*MODULES, *PARTS])
def test_no_constant_makes_a_part_be_compiled_twice(name):
    module = import_module(name)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        if not isinstance(call.func, ast.Name) or not is_part(getattr(module, call.func.id, None)):
            continue
        starred = [each.value for each in call.args if isinstance(each, ast.Starred)]
        given = [*call.args, *(each for many in starred for each in getattr(many, "elts", ()))]
        constants = [ast.unparse(each) for each in given if is_constant(each, module)]
        assert not constants, f"line {call.lineno}: {ast.unparse(call.func)} is given {constants}"


def test_a_part_is_compiled_once_for_all_that_call_it():
    @inner()
    def part(values, at):
        values[at] += 1.0

    @inner()
    def both(values):
        part(values, ZERO)
        part(values, ONE)

    @outer(types.void(types.float64[::1]))
    def whole(values):
        both(values)
        part(values, values.size - 1)

    numbers = np.zeros(3)
    whole(numbers)
    assert numbers.tolist() == [1.0, 1.0, 1.0]
    assert len(part.signatures) == len(both.signatures) == 1
    # no machine code of its own: that is only in what Python calls
    for each in (part, both):
        (made,) = each.overloads.values()
        assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) == 0
    (made,) = whole.overloads.values()
    assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) != 0


class Inside(NamedTuple):
    at: int
    numbers: np.ndarray


class Outside(NamedTuple):
    by: float
    inside: Inside
    table: np.ndarray


def test_a_tuple_is_handed_on_by_its_place():
    @inner()
    def add(inside, by):
        for i in range(inside.numbers.size):
            inside.numbers[i] += by + inside.at

    @inner()
    def both(given):
        add(given.inside, given.by)
        given.table[0, 1] = given.inside.numbers[0]

    one = types.NamedTuple([types.int64, types.float64[::1]], Inside)
    two = types.NamedTuple([types.float64, one, types.float64[:, ::1]], Outside)

    @outer(types.void(two))
    def whole(given):
        given = shared(given)
        for _ in range(2):
            both(given)

    numbers, table = np.zeros(3), np.zeros((1, 2))
    whole(Outside(0.5, Inside(1, numbers), table))
    assert numbers.tolist() == [3.0, 3.0, 3.0]
    assert table.tolist() == [[0.0, 3.0]]
    assert [len(each.overloads) for each in (add, both)] == [1, 1]


def test_an_error_in_a_part_is_raised():
    @inner()
    def part(number):
        if number < 0:
            raise ValueError("less than none")

    @njit
    def whole(number):
        part(number)
        return number

    assert whole(1) == 1
    with pytest.raises(ValueError, match="less than none"):
        whole(-1)


def test_the_first_numbers_of_another_array_are_put_into_one():
    @njit
    def whole(to, of):
        put(to, of)

    to = np.zeros(2)
    whole(to, np.arange(1.0, 4.0))
    assert to.tolist() == [1.0, 2.0]

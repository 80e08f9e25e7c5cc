"""How loops are compiled that only other compiled loops call."""

from __future__ import annotations

from functools import partial
from typing import Final, cast

import numpy as np
from numba import njit

#: Compile a function that Python never calls: without what would unpack its arguments for it, which
#: takes longer to compile than most of these functions.
inner: Final = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
#: The same of a function that is called in one place: it becomes a part of its caller. Otherwise
#: all that it calls would be compiled for it, and once more for the caller.
part: Final = partial(inner, inline="always")

# A constant that is passed on has a type of its own for the compiler, which would compile all that
# is called once more for each: these are numbers like any other.
ZERO: Final = cast(int, np.int64(0))
ONE: Final = cast(int, np.int64(1))

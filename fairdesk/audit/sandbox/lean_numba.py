"""numba, loaded without SciPy's linear algebra: sooner by a fifth of a second.

It is for guests in which nothing else needs that either.

numba loads that only to find out whether it is there, for `numpy.cov` and `numpy.corrcoef` in
compiled loops, which ours do not use. What multiplies matrices looks for it when it is compiled.
"""

import sys

_ASKED_FOR = "scipy.linalg"
if _ASKED_FOR not in sys.modules:
    # what stands for nothing here cannot be imported
    sys.modules[_ASKED_FOR] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_ASKED_FOR]

"""What is installed in an environment besides the model's own libraries.

The guest runs there whole: it opens the model, searches, computes group metrics, certifies and
trains again. So each library that its modules import is listed here once, with what installs it or
with why it is left out; a test walks through the guest's imports and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from fairdesk.models.pickles.contents import installed

SCIKIT = "scikit-learn"
_LINUX = sys.platform == "linux"

#: What the guest imports, and what installs each; empty where another of them brings it along.
GUEST_IMPORTS = {
    "fairlearn": "fairlearn",
    "google": "",  # protobuf, with onnx
    "h5py": "h5py>=3.11",
    "joblib": "joblib>=1.6",
    "lark": "lark>=1.2",
    "llvmlite": "",  # with numba
    "msgspec": "msgspec>=0.20",
    # what the same numba has compiled for FairDesk is used here and there
    "numba": f"numba<={installed('numba')}",
    "numpy": "numpy>=1.26",
    "onnx": "onnx>=1.16",
    "onnxruntime": "onnxruntime>=1.19",
    "pandas": "pandas>=2.0",
    "platformdirs": "platformdirs>=4.2",
    "pyarrow": "pyarrow>=20",
    "pyseccomp": "pyseccomp>=0.1.2" if _LINUX else "",
    "python_calamine": "python-calamine>=0.4",
    "scipy": "scipy>=1.15",
    "skl2onnx": "skl2onnx",
    "sklearn": "",  # it is what the environment is made for
    "z3": "z3-solver>=4.13",
}
#: What some module of the guest's imports and is not installed there, with the reason.
NOT_INSTALLED = {
    "catboost": "a model of CatBoost’s is opened in FairDesk’s own environment",
    "keras": "a network is opened in FairDesk’s own environment",
    "lime": "no wheel of it exists: FairDesk’s own copy is lent (`beside.lend`)",
    "lz4": "FairDesk has none either: what is packed so opens where the auditor installed it",
    "skops": "only from scikit-learn 1.2 on (`_SKOPS`): there is none for earlier ones",
    "tensorflow": "a network is opened in FairDesk’s own environment",
}
#: What the process that opens older models imports, where scikit-learn is older than 1.1: what
#: goes with all of those, for Python 3.8 to 3.10 (`fairdesk.audit.worker.relay_server`). The guest
#: itself then runs in FairDesk’s own environment.
RELAY_IMPORTS = {
    "joblib": "joblib>=1.3",
    "msgspec": "msgspec>=0.18",
    "numpy": "numpy>=1.21,<1.24",
    "pandas": "pandas>=1.3,<1.5",
    "platformdirs": "platformdirs>=4.2",
    "pyseccomp": "pyseccomp>=0.1.2" if _LINUX else "",
    "sklearn": "scipy<1.8",  # of the time of those that are older
}
#: What some module of that process imports and is not installed there, with the reason.
NOT_RELAYED = {
    "h5py": "only pickles are opened there",
    "lz4": "as above",
    "skops": "no scikit-learn as old is read by it: the guest refuses such a file",
}
#: Earlier ones fell back to running a file's code without a word; the first scikit-learn for it.
_SKOPS, _FIRST_WITH_SKOPS = "skops>=0.13", (1, 2)
#: What came later and does not go with an old scikit-learn, though nothing says so: one before
#: the version on the left needs what is on the right.
_NEEDS_OLDER = (
    ((1, 3), "pandas<2.1"),
    ((1, 4, 2), "numpy<2"),
    ((1, 8), "pandas<3"),
    # from here on SciPy cannot use the splines that an earlier one has saved
    ((1, 8), "scipy<1.17"),
)
#: Parts for graphics cards, which are not needed here.
LEFT_OUT = ("nvidia-nccl-cu12", "nvidia-nccl-cu13")
_RELAY_TRIAL = "import joblib, msgspec, numpy.typing, pandas, scipy.stats, sklearn.pipeline"
_TRIAL = "import joblib, numba, pandas, scipy.stats, sklearn.pipeline"


def specifications(packages: Mapping[str, str]) -> list[str]:
    """Return what is to be installed, as installers want it written: ``"numpy<2"``.

    Parameters
    ----------
    packages : Mapping of str to str
        What the model needs, as in `environments.Requirement`.
    """
    scikit = numbers_in(packages[SCIKIT])
    named = [f"{name}=={version}" if version else name for name, version in packages.items()]
    if is_older(scikit):
        also = [each for each in RELAY_IMPORTS.values() if each]
        return [*named, *also, *(["lightgbm<4"] if "lightgbm" in named else [])]
    return [
        *named,
        *(each for each in GUEST_IMPORTS.values() if each),
        *([_SKOPS] if "skops" in packages or scikit >= _FIRST_WITH_SKOPS else []),
        *(needs for before, needs in _NEEDS_OLDER if scikit < before),
    ]


def lacking(packages: Mapping[str, str], present: Mapping[str, str]) -> Sequence[str]:
    """Return the names of those libraries to be installed that are not present."""
    wanted = dict.fromkeys(map(_name, specifications(packages)))
    return [name for name in wanted if name not in present]


def trial(packages: Mapping[str, str]) -> str:
    """Return the statement that shows whether the libraries start."""
    return _RELAY_TRIAL if is_older(numbers_in(packages[SCIKIT])) else _TRIAL


def numbers_in(wanted: str) -> tuple[int, ...]:
    """Return the numbers of a version: ``(1, 3)`` of ``"1.3.*"``."""
    return tuple(int(part) for part in wanted.split(".") if part.isdecimal())


def is_older(scikit: tuple[int, ...]) -> bool:
    """Return whether a scikit-learn has no build for any Python that FairDesk runs on."""
    return scikit < (1, 1)


def _name(specification: str) -> str:
    return specification.partition("=")[0].partition("<")[0].partition(">")[0]

"""Pickles by somebody who means harm: each would leave a mark on disk if it got its way."""

from __future__ import annotations

import collections
import functools
import importlib
import operator
import os
import pickle
import struct
import subprocess
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer


class Calls:
    """Pickled as a call."""

    def __init__(self, function: Any, *arguments: Any, state: Any = None) -> None:
        self.reduced = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.reduced


def by_name(module: str, name: str, *arguments: Any) -> bytes:
    """Assemble a call of a name, dots and all, that no pickler would write."""
    inner = pickle.dumps(arguments, 4)[2:-1]
    # the frame of the inner pickle goes
    inner = inner[9:] if inner[:1] == b"\x95" else inner
    return (
        b"\x80\x04"
        b"\x8c"
        + bytes([len(module)])
        + module.encode()
        + b"\x8c"
        + bytes([len(name)])
        + name.encode()
        + b"\x93"
        + inner
        + b"R."
    )


def _program(mark: Path) -> str:
    return f"open({str(mark)!r}, 'w').close()"


def _inner(mark: Path, folder: Path) -> str:
    path = folder / "inner.bin"
    path.write_bytes(pickle.dumps(Calls(os.mkdir, str(mark))))
    return str(path)


def _inside(thing: Any) -> Any:
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    model.extra_ = thing
    return model


def _object_array(thing: Any) -> Any:
    array = np.empty(1, dtype=object)
    array[0] = thing
    return array


def distribution(mark: Path) -> Any:
    """A distribution of SciPy, which executes a text that lies in the file when it is filled."""
    from scipy.stats._continuous_distns import uniform_gen

    made = uniform_gen(name="uniform")
    made._parse_arg_template = f"{_program(mark)}\n{made._parse_arg_template}"
    return made


KINDS: dict[str, Callable[[Path, Path], Any]] = {
    "os.mkdir": lambda mark, _: Calls(os.mkdir, str(mark)),
    "os.system": lambda mark, _: Calls(os.system, f"touch {mark}"),
    "subprocess.Popen": lambda mark, _: Calls(subprocess.Popen, ["touch", str(mark)]),
    "eval": lambda mark, _: Calls(eval, _program(mark)),
    "exec": lambda mark, _: Calls(exec, _program(mark)),
    "open": lambda mark, _: Calls(open, str(mark), "w"),
    "getattr": lambda mark, _: Calls(getattr, Calls(importlib.import_module, "os"), "mkdir"),
    "partial": lambda mark, _: Calls(functools.partial(os.mkdir, str(mark))),
    "partial made": lambda mark, _: Calls(functools.partial, os.mkdir, str(mark)),
    "methodcaller": lambda mark, _: Calls(operator.methodcaller("mkdir"), Path(mark)),
    "attrgetter": lambda mark, _: operator.attrgetter("mkdir"),
    "path.mkdir": lambda mark, _: Calls(Path.mkdir, Path(mark)),
    "timeit": lambda mark, _: Calls(timeit.timeit, _program(mark), "pass", timeit.default_timer, 1),
    "cProfile.run": lambda mark, _: Calls(importlib.import_module("cProfile").run, _program(mark)),
    "joblib.load": lambda mark, folder: Calls(joblib.load, _inner(mark, folder)),
    "pandas.read_pickle": lambda mark, folder: Calls(pd.read_pickle, _inner(mark, folder)),
    "numpy.load": lambda mark, folder: Calls(np.load, _inner(mark, folder), None, True),
    "numpy.save": lambda mark, _: Calls(np.save, str(mark), np.zeros(1)),
    "numpy runstring": lambda mark, _: Calls(
        importlib.import_module("numpy.testing._private.utils").runstring, _program(mark), {}
    ),
    "pickle.loads": lambda mark, _: Calls(pickle.loads, pickle.dumps(Calls(os.mkdir, str(mark)))),
    "to_csv": lambda mark, _: Calls(pd.DataFrame.to_csv, pd.DataFrame({"a": [1]}), str(mark)),
    "function transformer": lambda mark, _: FunctionTransformer(os.system),
    "function transformer of eval": lambda mark, _: FunctionTransformer(eval),
    "in a model": lambda mark, _: _inside(Calls(os.mkdir, str(mark))),
    "in an object array": lambda mark, _: _inside(_object_array(Calls(os.mkdir, str(mark)))),
    "in a dictionary": lambda mark, _: {"model": _inside(None), "x": Calls(os.mkdir, str(mark))},
    "memory": lambda mark, _: Calls(joblib.Memory, str(mark)),
    "parallel": lambda mark, _: Calls(joblib.Parallel, 2),
    "datasets": lambda mark, _: Calls(
        importlib.import_module("sklearn.datasets").get_data_home, str(mark)
    ),
    "svmlight file": lambda mark, _: Calls(
        importlib.import_module("sklearn.datasets").load_svmlight_file, str(mark)
    ),
    "mocking": lambda mark, _: importlib.import_module("sklearn.utils._mocking").CheckingClassifier(
        check_X=os.system
    ),
    "temporary memory map": lambda mark, _: Calls(
        importlib.import_module("sklearn.utils._testing").TempMemmap, np.zeros(1)
    ),
    "distribution": lambda mark, _: Calls(
        importlib.import_module("scipy.stats._distn_infrastructure").rv_generic.__setstate__, 1, {}
    ),
    "default of a dictionary": lambda mark, _: collections.defaultdict(os.getcwd),
    "a method of a class": lambda mark, _: Calls(dict.fromkeys, [1]),
    "memory map": lambda mark, _: Calls(np.memmap, str(mark), "f8", "w+", 0, (1,)),
    "from file": lambda mark, _: Calls(np.fromfile, str(mark)),
    "constructor of a model": lambda mark, _: Calls(LogisticRegression, 1),
    "type": lambda mark, _: Calls(type, "Name", (), {}),
}

#: Instructions that no pickler writes.
ASSEMBLED: dict[str, Callable[[Path], bytes]] = {
    "old instance": lambda mark: f"(S'{mark}'\nios\nmkdir\n.".encode(),
    "old object": lambda mark: f"(cos\nmkdir\nS'{mark}'\no.".encode(),
    "text protocol": lambda mark: f"cos\nmkdir\n(S'{mark}'\ntR.".encode(),
    "posix": lambda mark: f"cposix\nmkdir\n(S'{mark}'\ntR.".encode(),
    # Qt puts a function of its own in its place, which no pickler writes
    "__import__": lambda mark: by_name("builtins", "__import__", "os"),
    "dotted name": lambda mark: by_name("sklearn.base", "os.mkdir", str(mark)),
    "hidden attribute": lambda mark: by_name("numpy", "os.mkdir", str(mark)),
    "module of a module": lambda mark: by_name("sklearn.pipeline", "np.save", str(mark), 1),
    "what a module imported": lambda mark: by_name(
        "sklearn.model_selection._split", "ABCMeta", "Name", (), {}
    ),
    "change of a class": lambda mark: (
        b"\x80\x04csklearn.linear_model._logistic\nLogisticRegression\n"
        b"N}\x8c\x07predictcbuiltins\nlist\ns\x86b."
    ),
    "change of a function": lambda mark: b"\x80\x04cnumpy\nlog1p\nN}\x8c\x01a\x8c\x01bs\x86b.",
    "extension": lambda mark: b"\x80\x04\x82\x01.",
    "persistent": lambda mark: b"\x80\x04\x8c\x01xQ.",
    "array of pointers": lambda mark: by_name(
        "numpy._core.numeric", "_frombuffer", struct.pack("<q", 4096), np.dtype(object), (1,), "C"
    ),
    "hidden objects": lambda mark: _type_confusion(),
    "array of any length": lambda mark: by_name(
        "numpy._core.multiarray", "_reconstruct", np.ndarray, (1000,), b"d"
    ),
    "old joblib file": lambda mark: (
        b"\x80\x04cjoblib.numpy_pickle_compat\nNDArrayWrapper\n)\x81}\x8c\x08filename"
        b"\x8c\x0b/etc/passwdsb."
    ),
    "what is not the file's own": lambda mark: by_name("pyarrow.lib", "py_buffer", np.log1p),
    "hard codec": lambda mark: by_name("_codecs", "encode", "aaaa", "zlib"),
}


def _type_confusion() -> bytes:
    """A type of numbers that holds Python objects and denies it."""
    text = pickle.dumps(np.dtype([("a", "O")]), 2)
    # the flags of the outer type, which say that it holds objects, are its state's last number
    place = text.rindex(b"K?")
    return text[:place] + b"K\x00" + text[place + 2 :]

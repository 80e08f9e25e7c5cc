"""What was asked: the audit's question and each run's, frozen, and what files say of them."""

from __future__ import annotations

import codecs
import os
import platform
import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from fairdesk import __version__
from fairdesk.data.domain.attributes import Limit
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import CompanionValues
from fairdesk.data.table import Column, Source
from fairdesk.errors import SpecError, system_errors
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.results.events import ShardRange
from fairdesk.results.proofs import Condition

#: What reads data and models, computes answers, walks through them, proves, and sets the report.
_LIBRARIES = (
    *("numpy", "scipy", "numba", "pandas", "pyarrow", "python-calamine", "scikit-learn", "joblib"),
    *(
        "skops",
        "lightgbm",
        "xgboost",
        "catboost",
        "onnx",
        "onnxruntime",
        "skl2onnx",
        "h5py",
        "keras",
    ),
    *("tensorflow-cpu", "tensorflow", "z3-solver", "lark", "fairlearn", "msgspec"),
    *("lime", "typst", "jinja2", "pyhanko"),
)


def now() -> str:
    """Return the time: UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return what a result depends on: versions of programs, the system and the machine.

    Libraries that are missing are left out.
    """
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    cores = os.cpu_count() or 1
    found = {
        "FairDesk": __version__,
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": f"{_processor() or 'unknown'}, {platform.machine()}, {cores} "
        f"core{'' if cores == 1 else 's'}",
    }
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _processor() -> str:
    """Return the processor's name as the system tells it; empty where it does not."""
    match platform.system():
        case "Linux":
            with suppress(OSError):
                for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
                    name, _, value = line.partition(":")
                    if name.strip() in ("model name", "Model", "cpu model"):
                        return value.strip()
        case "Darwin":
            with suppress(OSError, subprocess.SubprocessError):
                return subprocess.run(
                    ("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"),
                    capture_output=True,
                    text=True,
                    timeout=2,
                    check=True,
                ).stdout.strip()
    return platform.processor()


class AuditSpec(msgspec.Struct, frozen=True):
    """The question of an audit: which data, which model, who is compared with whom.

    Attributes
    ----------
    title : str
        The audit's name.
    person : str
        What one row is, in the singular: ``"applicant"``.
    data : Source
        The table's file.
    columns : tuple[Column, ...]
        All columns of the table.
    label : str
        The column with the decision or the truth; no input of the model.
    favourable : str
        The label's value that is good for the person, as the file writes it.
    model : ModelCard
        The model file.
    mapping : Mapping
        How columns become model inputs, and which class is favourable.
    domain : Domain
        The attributes, their values and roles.
    trusted : bool
        Whether the auditor agreed to run this model file's own code, and that was needed.
    predictions : str
        The column with the decisions that a model made, where the model itself is not at hand:
        then ``model`` describes that column, and nobody can be asked about.
    created : str
        UTC, ISO 8601, to the second.
    versions : dict[str, str]
        Of FairDesk, Python, the operating system and the libraries at hand.
    """

    title: str
    person: str
    data: Source
    columns: tuple[Column, ...]
    label: str
    favourable: str
    model: ModelCard
    mapping: Mapping
    domain: Domain
    trusted: bool = False
    predictions: str = ""
    created: str = msgspec.field(default_factory=now)
    versions: dict[str, str] = msgspec.field(default_factory=versions)

    @property
    def only_said(self) -> tuple[str, ...]:
        """The protected attributes that the model does not receive, but what changes with them."""
        domain, received = self.domain, {each.attribute for each in self.mapping.inputs}
        received |= {each.name for each in self.columns if received.intersection(each.derived)}
        names = [] if self.predictions else [domain.names[i] for i in domain.protected.tolist()]
        return tuple(name for name in names if name not in received)

    @property
    def decisions(self) -> tuple[str, ...]:
        """What the model decides between, as the audit sees it."""
        return self.mapping.decisions(self.model)


#: What a method's parameter can be: a number, or one of a few words.
OptionValue = int | float | str


class Budget(msgspec.Struct, frozen=True):
    """When a run ends by itself, besides when its method is done. ``None``: no limit.

    Attributes
    ----------
    seconds : float, optional
        Wall seconds, the preparation of the run included.
    queries : int, optional
        Rows sent to the model. What is drawn at random ends after the very person at whom these are
        used up, what goes in steps after the step; a proof's boxes depend on the clock besides.
    idle : float, optional
        Seconds of search without a new discriminatory pair.
    """

    seconds: float | None = None
    queries: int | None = None
    idle: float | None = None


class RunSpec(msgspec.Struct, frozen=True):
    """One run of one method.

    Attributes
    ----------
    method : str
        A key of `fairdesk.audit.catalogue.methods.METHODS`.
    options : dict[str, OptionValue]
        The method's parameters by their names in its paper; those left out have their default.
    seed : int
        Of all randomness of the run.
    budget : Budget
        When it ends by itself.
    max_distance : float, optional
        Only people at most so far from a real one may be asked about (Gower distance, 0 to 1).
    continues : int
        The run of the same audit that this one goes on with: what that one found is not found
        again. 0 for none.
    edges : dict[str, tuple[float, ...]]
        For rules about groups: per protected number the inner edges of its bins, ascending; those
        left out are divided into bins of equal width.
    text : str
        For rules about texts: the column that the model reads. Empty for rules about groups of
        people.
    terms : dict[str, tuple[str, ...]]
        Per category the terms that name somebody; empty for those of the paper.
    pairs_of : tuple[int, ...]
        Of a repair: the runs whose pairs are repaired; empty for all.
    flagged : bool
        Of a repair: only the pairs that the auditor flagged.
    rule : tuple[Condition, ...]
        Of a repair of groups: the rule set. Empty for the one with the highest score that was
        found; it is filled in when the run begins.
    outcome : str
        Of a repair of groups: the decision whose rates are apart; empty for the mean score.
    plausible : bool
        Of a search: only pairs count of which both halves are plausible, by
        `fairdesk.population.plausible`.
    shards : int
        Of a search: into so many parts it is divided, each with a stream of random numbers of its
        own; the same number gives the same pairs, wherever the parts run. 0: not divided.
    shard : ShardRange, optional
        The part of a run that this is, as `fairdesk.audit.shards` deals it; never of a run that
        is written down.
    """

    method: str
    options: dict[str, OptionValue] = msgspec.field(default_factory=dict)
    seed: int = 0
    budget: Budget = Budget()
    max_distance: float | None = None
    continues: int = 0
    edges: dict[str, tuple[float, ...]] = msgspec.field(default_factory=dict)
    text: str = ""
    terms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    pairs_of: tuple[int, ...] = ()
    flagged: bool = False
    rule: tuple[Condition, ...] = ()
    outcome: str = ""
    plausible: bool = False
    shards: int = 0
    shard: ShardRange | None = None

    @property
    def first(self) -> bool:
        """Whether it is a whole run, or the first part of one."""
        return self.shard is None or self.shard.start == 0

    def rng(self) -> np.random.Generator:
        """Return the source of all randomness: of a part of a search a stream of its own.

        What is drawn in units has a stream for each of these, the same in every part.
        """
        own = () if self.shard is None or not self.shards else (self.shard.start,)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=own))


#: Limits by the attributes' names.
Attributes = dict[str, Limit | tuple[int | float | str, ...]]
#: How a file of terms is written.
_TERMS = 'The file must be JSON, like {"gender": ["gay", "straight"], "age": ["young", "elderly"]}.'


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What may be asked about, where that is not simply what the data hold.

    Attributes
    ----------
    attributes : dict[str, Limit or tuple]
        Per attribute's name its limit; or, as `attribute_of` takes it, ``[low, high]`` or a list
        of values.
    constraints : tuple[str, ...]
        What everybody fulfils, as `fairdesk.data.domain.constraints` reads it.
    """

    attributes: Attributes = msgspec.field(default_factory=dict)
    constraints: tuple[str, ...] = ()


T = TypeVar("T")
_LIMITS = (
    '{"age": [18, 90], "sex": ["female", "male"]}, or like {"attributes": {"loan": {"low": 0, '
    '"high": 5000, "step": 50}, "county": {"role": "fixed"}}, "constraints": '
    '["years_employed <= age - 14"]}.'
)
_COMPANIONS = (
    '{"relationship": {"with": "sex", "values": {"Female": {"Husband": "Wife"}, "Male": {"Wife": '
    '"Husband"}}}}. “fairdesk inspect --json” writes those that it finds in this form.'
)


def read_limits(path: Path) -> Limits:
    """Read limits from a JSON file.

    It is either an object with one or both of ``"attributes"`` and ``"constraints"``, or short: the
    attributes themselves. A file is read as the first wherever it can be.

    Raises
    ------
    SpecError
        When the file cannot be read or is something else.
    """
    return _read(path, "domain file", _decoded, f"The file must be JSON, like {_LIMITS}")


def _decoded(text: bytes) -> Limits:
    members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    if members.keys() - {"attributes", "constraints"}:
        return Limits(msgspec.json.decode(text, type=Attributes))
    try:
        return msgspec.json.decode(text, type=Limits)
    except msgspec.ValidationError as error:
        # columns may have these names
        try:
            return Limits(msgspec.json.decode(text, type=Attributes))
        except msgspec.ValidationError:
            raise error from None


def read_companions(path: Path) -> dict[str, CompanionValues]:
    """Read which attributes change with a protected one from a JSON file.

    Raises
    ------
    SpecError
        When the file cannot be read or is something else.
    """
    decoder = msgspec.json.Decoder(dict[str, CompanionValues])
    remedy = f"The file must be JSON, like {_COMPANIONS}"
    return _read(path, "file of companions", decoder.decode, remedy)


def read_terms(path: Path) -> dict[str, tuple[str, ...]]:
    """Read terms by category from a JSON file: an object of lists of texts.

    Raises
    ------
    SpecError
        When the file cannot be read, is something else, or has no category.
    """
    decoder = msgspec.json.Decoder(dict[str, tuple[str, ...]])
    terms = _read(path, "file of identity terms", decoder.decode, _TERMS)
    if not terms:
        raise SpecError(f"The file of identity terms “{path}” has no category.", remedy=_TERMS)
    return terms


def _read(path: Path, what: str, decode: Callable[[bytes], T], remedy: str) -> T:
    with system_errors(SpecError, f"The {what} “{path}” cannot be read.", "Check its name."):
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = f"The {what} “{path}” does not have the expected format."
        raise SpecError(what, why=f"{error}.", remedy=remedy) from error

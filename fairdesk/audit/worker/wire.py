"""What the app and the process that holds the model say to each other, message by message.

What a method yields crosses as it is: the events of `fairdesk.results`. How a message becomes bytes
is the business of `fairdesk.audit.worker.frames`.
"""

from __future__ import annotations

from typing import BinaryIO, Literal, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.worker import frames
from fairdesk.audit.worker.frames import Frame
from fairdesk.certify.proof.reproof_check import Reproof, SharesOf
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Column, Dialect, Source
from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.inputs.input_check import InputCheck, SampleRow
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.results.events import Event, Found, Rows, Scores

#: How a search ended: its method was done, it was told to stop, its budget is used up, or it found
#: nothing new for as long as its budget allows.
Ending = Literal["done", "stopped", "budget", "idle"]
#: Places along the axes of a space, as of `fairdesk.certify.domain.space`.
Places = NDArray[np.int64]


class ReadTable(msgspec.Struct, frozen=True, tag=True):
    """Read a table's file; answered by any number of `TableProgress` and then `TableRead`."""

    path: str
    dialect: Dialect | None


class LookInto(msgspec.Struct, frozen=True, tag=True):
    """Tell what a model file is made of, without running anything of it."""

    path: str


class OpenModel(msgspec.Struct, frozen=True, tag=True):
    """Open a model file and keep it open; an earlier one is let go."""

    path: str
    trusted: bool
    output: str = ""
    companions: tuple[Companion, ...] = ()


class CheckInputs(msgspec.Struct, frozen=True, tag=True):
    """Check how the open model is fed, on a table; ``codes`` are ``(rows, columns)``."""

    mapping: Mapping
    source: Source
    columns: tuple[Column, ...]
    codes: Rows
    label: str
    favourable: str


class CheckAllRows(msgspec.Struct, frozen=True, tag=True):
    """Check all rows of a table that is larger than memory, after a sample of them.

    Answered by any number of `TableProgress` and then `Proved`.
    """

    mapping: Mapping
    source: Source
    columns: tuple[Column, ...]
    label: str
    favourable: str
    found: InputCheck


class Show(msgspec.Struct, frozen=True, tag=True):
    """Show what the open model is sent for the rows of a table, ``(rows, columns)``."""

    mapping: Mapping
    source: Source
    columns: tuple[Column, ...]
    codes: Rows
    label: str


class Predict(msgspec.Struct, frozen=True, tag=True):
    """Ask the open model about ``(n, d)`` rows."""

    mapping: Mapping
    attributes: tuple[Attribute, ...]
    rows: Rows


class Search(msgspec.Struct, frozen=True, tag=True):
    """Run a method; answered by any number of events and then `SearchEnded`."""

    mapping: Mapping
    domain: Domain
    run: RunSpec
    inputs: RunInputs


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """Tell how plausible pairs, ``(n, d)`` each, are beside ``(m, d)`` rows of the data.

    Without partners, ``(0, d)``, how plausible instances are by themselves.
    """

    domain: Domain
    people: Rows
    rows: Rows
    partners: Rows


class Shrink(msgspec.Struct, frozen=True, tag=True):
    """Bring ``(n, d)`` instances as near to ``(m, d)`` real people as they stay instances."""

    mapping: Mapping
    domain: Domain
    people: Rows
    rows: Rows


class Explain(msgspec.Struct, frozen=True, tag=True):
    """Explain one pair, ``(2, d)``: the instance and its partner; ``people`` are real ones."""

    mapping: Mapping
    domain: Domain
    people: Rows
    pair: Rows
    seed: int


class Pack(msgspec.Struct, frozen=True, tag=True):
    """Write a table, and rows added to it, as Parquet: `parquet.packed`.

    ``codes`` and ``added`` are theirs, a row per column each. ``path`` is the Parquet file that
    the table came from, or empty.
    """

    columns: tuple[Column, ...]
    codes: Rows
    added: Rows
    decimal: str
    path: str = ""


class Boxes(msgspec.Struct, frozen=True):
    """Boxes of a certificate, as `fairdesk.certify.proof.verify` has them.

    Attributes
    ----------
    header : str
        The certificate's.
    root_low, root_high : Places
        Its roots.
    low, high : Places
        ``(B, a)`` each; the boxes.
    group : Places
        ``(B,)``; of each the row of the header's masks that holds in it.
    """

    header: str
    root_low: Places
    root_high: Places
    low: Places
    high: Places
    group: Places


class Reprove(msgspec.Struct, frozen=True, tag=True):
    """Prove boxes of a certificate once more, within so many seconds in all.

    ``stated``, ``(B, 2)``: which shares are stated, as of
    `fairdesk.certify.proof.reproof_check.Reprove`.
    """

    boxes: Boxes
    stated: NDArray[np.float64]
    seconds: float
    of: SharesOf = "points"


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Hold the search of this call between two events."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """Go on with the search of this call."""


class Stop(msgspec.Struct, frozen=True, tag=True):
    """End the search of this call between two events."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The guest's first words, unasked, before it reads anything: what it cannot do."""

    confinement: Confinement


class TableProgress(msgspec.Struct, frozen=True, tag=True):
    """How much of the table's file was read, from 0 to 1."""

    share: float


class LookedInto(msgspec.Struct, frozen=True, tag=True):
    """What the model file is made of."""

    contents: Contents


class TableRead(msgspec.Struct, frozen=True, tag=True):
    """The table; of its codes a row per column of the table."""

    source: Source
    columns: tuple[Column, ...]
    codes: Rows


class ModelOpened(msgspec.Struct, frozen=True, tag=True):
    """What the model file is."""

    card: ModelCard


class Proved(msgspec.Struct, frozen=True, tag=True):
    """The outcome of the check."""

    proof: InputCheck


class Shown(msgspec.Struct, frozen=True, tag=True):
    """What it is sent and answers, a row each, in their order."""

    sample: tuple[SampleRow, ...]


class Predicted(msgspec.Struct, frozen=True, tag=True):
    """What the model answers, ``(n, k)``."""

    scores: Scores


class Packed(msgspec.Struct, frozen=True, tag=True):
    """The file's bytes."""

    content: NDArray[np.int8]


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """How plausible they are."""

    weighed: Plausibility


class Shrunk(msgspec.Struct, frozen=True, tag=True):
    """The pairs, row by row for the instances asked about."""

    pairs: Found


class Explained(msgspec.Struct, frozen=True, tag=True):
    """Why the two are decided differently."""

    explanation: Explanation


class Reproved(msgspec.Struct, frozen=True, tag=True):
    """What was proven once more."""

    reproof: Reproof


class SearchEnded(msgspec.Struct, frozen=True, tag=True):
    """The search is over."""

    ending: Ending


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The call failed as told: a `fairdesk.errors.FairDeskError` by the name of its class."""

    kind: str
    what: str
    why: str
    remedy: str


Control = Pause | Resume | Stop
Request = (
    ReadTable
    | LookInto
    | OpenModel
    | CheckInputs
    | CheckAllRows
    | Show
    | Predict
    | Search
    | Weigh
    | Shrink
    | Explain
    | Reprove
    | Pack
)
ToGuest = Request | Control
FromGuest = (
    Hello
    | TableProgress
    | TableRead
    | LookedInto
    | ModelOpened
    | Proved
    | Shown
    | Predicted
    | Event
    | SearchEnded
    | Weighed
    | Shrunk
    | Explained
    | Reproved
    | Packed
    | Failed
)
#: What comes before the answer of a call.
UNDERWAY = TableProgress | Event


def read_from_guest(stream: BinaryIO) -> Frame[FromGuest] | None:
    """Read one frame that the guest wrote, as `frames.read` does."""
    return frames.read(stream, cast("type[FromGuest]", FromGuest))


def read_to_guest(stream: BinaryIO) -> Frame[ToGuest] | None:
    """Read one frame that the app wrote, as `frames.read` does."""
    return frames.read(stream, cast("type[ToGuest]", ToGuest))

"""What the audit file remembers, as its readers see it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Metric

Count = Annotated[int, msgspec.Meta(ge=0)]
TemplateKey = Literal["plain", "ll144", "annex-iv", "model-card"]
Paper = Literal["a4", "us-letter"]
#: What is shown of single people: everything; only invented people; values in bands.
Redaction = Literal["none", "synthetic", "bands"]
#: What the PDF promises: accessible (UA-1), to be kept (A-3a, A-2a), or nothing.
Standard = Literal["ua-1+a-3a", "ua-1", "a-3a", "a-2a", "none"]


class Signer(msgspec.Struct, frozen=True):
    """Who signs the report, in which role, and when (a date as they write it)."""

    name: str
    role: str = ""
    date: str = ""


class Categories(msgspec.Struct, frozen=True):
    """Which attributes tell sex, and race or ethnicity, and what their values are called.

    Attributes
    ----------
    sex, race : str
        The attributes' names; empty where there is none.
    names : dict[str, dict[str, str]]
        Per attribute: the category, as it is published, of a value of the data. Values with the
        same category are counted together; one with an empty category counts as unknown. A value
        that is left out is its own category.
    """

    sex: str = ""
    race: str = ""
    names: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)


class Details(msgspec.Struct, frozen=True):
    """What the auditor fills in.

    Attributes
    ----------
    texts : dict[str, str]
        By the keys of `fairdesk.report.content.fields.FIELDS`; those left out are empty.
    signers : tuple[Signer, ...]
        Who signs.
    categories : Categories
        For tables by published categories.
    logo : bytes
        A picture for the cover (SVG, PNG or JPEG); empty for none.
    """

    texts: dict[str, str] = msgspec.field(default_factory=dict)
    signers: tuple[Signer, ...] = ()
    categories: Categories = Categories()
    logo: bytes = b""


class Choice(msgspec.Struct, frozen=True):
    """How a report is wanted.

    Attributes
    ----------
    template : str
        Which kind of report.
    paper : str
        The size of its pages.
    redaction : str
        What is shown of single people.
    standard : str
        What its PDF promises.
    left_out, added : tuple[str, ...]
        Keys of sections, charts and tables: those that are dropped, and those that are shown
        although they are not by default.
    """

    template: TemplateKey = "plain"
    paper: Paper = "a4"
    redaction: Redaction = "none"
    standard: Standard = "ua-1+a-3a"
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


class RunRecord(msgspec.Struct, frozen=True):
    """One run as the file remembers it.

    Attributes
    ----------
    id : int
        From 1, in the order of their beginning.
    spec : RunSpec
        What was asked.
    state : str
        ``"running"``, ``"stopped"``, ``"done"`` or ``"failed"``.
    message : str
        Why it failed, or ended early; whole sentences or empty.
    started, ended : str
        UTC, ISO 8601; ``ended`` is empty while it runs.
    elapsed : float
        Wall seconds, pauses left out.
    tried, found, queries : int
        As in `fairdesk.results.events.Progress`; ``found`` counts the findings that are kept.
    seconds : dict[str, float]
        Seconds of search per phase.
    sufficient_alone : tuple[int, ...]
        Per protected attribute: findings where changing it alone changes the decision.
    rejected : int
        As in `fairdesk.results.events.Progress`.
    figures : tuple[Metric, ...]
        What it measured.
    """

    id: int
    spec: RunSpec
    state: Literal["running", "stopped", "done", "failed"]
    message: str
    started: str
    ended: str
    elapsed: float
    tried: Count
    found: Count
    queries: Count
    seconds: dict[str, float]
    sufficient_alone: tuple[int, ...]
    rejected: Count = 0
    figures: tuple[Metric, ...] = ()

    @property
    def method(self) -> str:
        """A key of `fairdesk.audit.catalogue.methods.METHODS`."""
        return self.spec.method

    @property
    def answers_changed(self) -> bool:
        """Whether rows that were queried again in it got another answer: it cannot be repeated."""
        return any(isinstance(each, Repeatability) for each in self.figures)


class RunState(msgspec.Struct, frozen=True):
    """How a run stands, told while it runs.

    Attributes
    ----------
    id : int
        Of the run in the store.
    method : str
        A key of `fairdesk.audit.catalogue.methods.METHODS`.
    state : str
        ``"running"``, ``"paused"``, ``"stopped"``, ``"done"`` or ``"failed"``.
    phase, done, total
        As in `fairdesk.results.events.Progress`; the rest as in `RunRecord`.
    """

    id: int
    method: str
    state: str
    phase: str = ""
    done: int = 0
    total: int = 0
    tried: int = 0
    found: int = 0
    queries: int = 0
    elapsed: float = 0.0
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    sufficient_alone: tuple[int, ...] = ()
    message: str = ""
    rejected: int = 0
    figures: tuple[Metric, ...] = ()


class WaitingRun(msgspec.Struct, frozen=True):
    """A run that waits for others.

    Attributes
    ----------
    run : RunSpec
        What to run.
    batch : int
        Those of the same number were asked for together.
    seconds : float, optional
        What is left of the time limit that these share; ``None`` where each has its own.
    """

    run: RunSpec
    batch: int = 0
    seconds: float | None = None


class ModelFile(msgspec.Struct, frozen=True):
    """A file of a retrained model: how it was checked, or why there is none, and its bytes."""

    remark: str
    size: int


#: What an entry of the log is about. ``"exported"`` changes nothing in the audit: a report is the
#: same before and after it.
LogKind = Literal[
    "begun",
    "decided",
    "planned",
    "marked",
    "ran",
    "learned",
    "details",
    "choice",
    "final",
    "draft",
    "exported",
]
#: Entries that leave the audit, and so its report, as they were.
PASSING: tuple[LogKind, ...] = ("exported",)


class LogEntry(msgspec.Struct, frozen=True):
    """What happened in the audit.

    Attributes
    ----------
    at : str
        When: UTC, ISO 8601, to the second.
    what : str
        A sentence.
    kind : str
        One of `LogKind`.
    facts : str
        The same for programs: JSON, or empty.
    link : str
        Its fingerprint, as `fairdesk.audit.store.digests` makes it.
    """

    at: str
    what: str
    kind: LogKind
    facts: str = ""
    link: str = ""


class AuditStarted(msgspec.Struct, frozen=True):
    """What the first entry tells: SHA-256 of question, table, data file and model file."""

    question: str
    table: str
    data: str
    model: str


class Agreement(msgspec.Struct, frozen=True):
    """How often the decision matches the recorded outcome: of rows, and by always guessing one."""

    rows: int
    accuracy: float
    majority: float


class Noted(msgspec.Struct, frozen=True):
    """What was noticed when data and model were opened, a sentence or two."""

    note: str


class RunsPlanned(msgspec.Struct, frozen=True, tag_field="step", tag="planned"):
    """What is told of runs that are to be made: each as it was asked for."""

    runs: tuple[RunSpec, ...]


class RunDropped(msgspec.Struct, frozen=True, tag_field="step", tag="dropped"):
    """What is told of a planned run that was not started, and why, in a clause."""

    run: RunSpec
    why: str


#: What an entry about planned runs tells.
StepOfPlan = RunsPlanned | RunDropped


class RunStarted(msgspec.Struct, frozen=True, tag_field="step", tag="began"):
    """What the entry of a run's beginning tells.

    Attributes
    ----------
    run : int
        Its number.
    spec : RunSpec
        What was asked.
    versions : dict[str, str]
        Those that are others than when the audit was made: another machine, a newer FairDesk.
    """

    run: int
    spec: RunSpec
    versions: dict[str, str] = msgspec.field(default_factory=dict)


class RunEnded(msgspec.Struct, frozen=True, tag_field="step", tag="ended"):
    """What the entry of a run's end tells: SHA-256 of everything that came of it.

    Attributes
    ----------
    run : int
        Its number.
    state : str
        As in `fairdesk.audit.store.records.RunRecord`.
    ended : str
        When: UTC, ISO 8601. Of a run that was cut off: when it was last heard of.
    record : str
        Of its row: what was asked, state, times, totals, figures.
    findings : str
        Of its findings, in the order of their numbers, without what is written into them later.
    progress : str
        Of its course.
    certificate : str
        Of the certificate's file; empty where there is none.
    made : str
        Of what a repair made: rows and files; empty where there is nothing.
    """

    run: int
    state: str
    ended: str
    record: str
    findings: str
    progress: str
    certificate: str = ""
    made: str = ""


#: What an entry about a run tells.
StepOfRun = RunStarted | RunEnded


class Weighed(msgspec.Struct, frozen=True, tag_field="about", tag="distances"):
    """What is told when findings were compared with real people.

    Attributes
    ----------
    first, last : int
        The numbers of the findings, inclusive.
    sha256 : str
        Of their numbers, and what was found out about each.
    """

    first: int
    last: int
    sha256: str

    @property
    def sentence(self) -> str:
        """The same for people."""
        return f"Pairs {self.first:,} to {self.last:,} were compared with the data rows."


class Learned(msgspec.Struct, frozen=True, tag_field="about", tag="pair"):
    """What is told when something was learned of a pair: what, and the document's SHA-256."""

    pair: int
    what: str
    sha256: str


#: What an entry about what was learned tells.
StepOfLearning = Weighed | Learned


class Marked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is told when a pair was marked, or noted on."""

    pair: int
    mark: str | None = None
    note: str | None = None

    @property
    def sentence(self) -> str:
        """The same for people."""
        if self.note is None:
            return f"Pair {self.pair}: {self.mark or 'not marked'}."
        return f"Pair {self.pair}: {f'note “{self.note}”' if self.note else 'note removed'}."


class ExportedFile(msgspec.Struct, frozen=True):
    """A file that was exported: its name in the export, where it went, SHA-256 and bytes."""

    name: str
    path: str
    sha256: str
    size: int


class Exported(msgspec.Struct, frozen=True):
    """What is told when files were exported; ``manifest`` is the SHA-256 of the one kept then."""

    files: tuple[ExportedFile, ...]
    manifest: str = ""


class PairQuery(msgspec.Struct, frozen=True):
    """Which pairs, in which order.

    Attributes
    ----------
    run : int, optional
        Of one run only.
    order : str
        ``"id"``, ``"row_score"``, ``"partner_score"``, ``"difference"`` (of the two scores),
        ``"mark"``, ``"distance"``, ``"typicality"``, ``"plausible"``, or an attribute's name. The
        first mean themselves even where an attribute is called the same. Equal ones are in the
        order they were found. Plausible ones are ordered further: those that differ in one
        protected attribute come first, then those that have the fewest repeats.
    descending : bool
        The order turned round.
    where : dict[str, str | tuple[float, float]]
        Per attribute's name the text of the one value wanted, or a range of codes, inclusive.
    mark : str, optional
        With this mark only; ``""`` is unmarked.
    upto : int, optional
        Up to this pair's number only: what there was at a moment of a run that goes on.
    within : float, optional
        At most so far from the nearest real person only; those not weighed yet are left out.
    plausible : bool
        Plausible ones only.
    among : tuple[int, ...], optional
        Of these numbers only.
    alone : str, optional
        Those only whose decision changes when this protected attribute alone changes.
    changed : tuple[(str, float, float), ...]
        With these codes of protected attributes only: name, the instance's, the counterfactual's.
    decided : tuple[int, int], optional
        With these decisions only, of the instance and of its counterfactual.
    """

    run: int | None = None
    order: str = "id"
    descending: bool = False
    where: dict[str, str | tuple[float, float]] = msgspec.field(default_factory=dict)
    mark: str | None = None
    upto: int | None = None
    within: float | None = None
    plausible: bool = False
    among: tuple[int, ...] | None = None
    alone: str | None = None
    changed: tuple[tuple[str, float, float], ...] = ()
    decided: tuple[int, int] | None = None


#: The order in which pairs are shown: plausible ones first, one attribute changed, diverse.
SHOWN = PairQuery(order="plausible", descending=True)
#: So many are shown first; of these it is told how many are plausible.
SHOWN_FIRST = 500

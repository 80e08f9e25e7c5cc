"""Opening a model and the files beside it, and how it is fed: proposed, chosen, tried, offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from fairdesk import files
from fairdesk.audit.environments import environments
from fairdesk.audit.environments.environments import Requirement
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.worker.client import Worker
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import ModelError, TrustRequiredError, system_errors
from fairdesk.file_types import MODEL_FORMATS
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import Choice, bounded, labelled
from fairdesk.gui.kit.parts import Banner, Card, DropZone, Share, quiet
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.model.inputs_dialog import Fed
from fairdesk.gui.wizard.model.mapping_table import CONSTANT
from fairdesk.gui.wizard.page import Desk
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.decisions.favourable import answer_of
from fairdesk.models.inputs.editing import answered, constant, problems, remap
from fairdesk.models.inputs.input_check import InputCheck, settled
from fairdesk.models.inputs.mapping import known_values
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.inputs.numbering import Codes, Numbering, numberings, renumbered
from fairdesk.models.inputs.usual import Offer, offers, read_key
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.models.preparation.beside import not_used, preparing_files
from fairdesk.samples import is_sample_file


@dataclass(frozen=True)
class Wish:
    """What is to be opened.

    Attributes
    ----------
    path : Path
        The model file.
    companions : tuple[Path, ...]
        The files beside it that tell how it is fed.
    output : str
        The output that decides, of a model with several; empty for the one that is proposed.
    make_environment : bool
        Whether an environment of the versions that it was saved with may be made.
    here : bool
        Whether it is to be opened in FairDesk's own environment, whatever it was saved with.
    """

    path: Path
    companions: tuple[Path, ...] = ()
    output: str = ""
    make_environment: bool = False
    here: bool = False


@dataclass(frozen=True)
class Untrusted:
    """A file that is a program, and that the auditor has not agreed to run."""

    path: Path
    sha256: str
    contents: Contents
    why: TrustRequiredError
    confinement: Confinement


@dataclass(frozen=True)
class Stranded:
    """A model that does not open here, and for which an environment can be made."""

    error: ModelError
    needed: Requirement


@dataclass(frozen=True)
class Opened:
    """An open model.

    Attributes
    ----------
    card : ModelCard
        What it is.
    contents : Contents
        What its file is made of.
    confinement : Confinement
        What its process cannot do.
    better : Requirement, optional
        The versions that it was saved with, where it was opened with others.
    beside : tuple[Path, ...]
        Files next to it that hold scalers or encoders, and are not used.
    """

    card: ModelCard
    contents: Contents
    confinement: Confinement
    better: Requirement | None
    beside: tuple[Path, ...] = ()


def open_files(
    worker: Worker,
    trusted: Sequence[str],
    wish: Wish,
    say: Callable[[str], None],
    stopped: Callable[[], bool],
) -> Untrusted | Stranded | Opened:
    """Open a model, unless it or a file beside it is a program that nobody vouched for.

    Parameters
    ----------
    trusted : sequence of str
        Fingerprints of the files that the auditor agreed to run.
    say : callable
        Told what goes on, a sentence at a time.
    stopped : callable
        Asked whether to give up making an environment.

    Raises
    ------
    FairDeskError
        When it cannot be opened.
    """
    digests = {path: _fingerprint(path) for path in (wish.path, *wish.companions)}
    agreed = {path: each in trusted or is_sample_file(each) for path, each in digests.items()}
    contents, beside = worker.look_into(wish.path), preparing_files(wish.path, worker.look_into)
    needed = environments.needed(contents)
    there = None
    if needed is not None and not wish.here:
        there = environments.find(needed, say, stopped)
        if there is None and wish.make_environment:
            there = environments.make(needed, say, stopped)
    say(f"Opening {wish.path.name}")
    try:
        card = worker.open_model(
            wish.path,
            trusted=agreed[wish.path],
            output=wish.output,
            companions=[Companion(str(path), trusted=agreed[path]) for path in wish.companions],
            command=None if there is None else environments.command(there),
        )
    except TrustRequiredError as error:
        path = _refused(worker, agreed)
        held = worker.confinement()
        return Untrusted(path, digests[path], worker.look_into(path), error, held)
    except ModelError as error:
        if needed is None or there is not None:
            raise
        if needed.obstacle:
            raise ModelError(error.what, why=needed.mismatch, remedy=needed.remedy) from error
        return Stranded(error, needed)
    if there is not None:
        card = msgspec.structs.replace(card, environment=there.title)
    better = needed if there is None else None
    return Opened(card, contents, worker.confinement(), better, not_used(card, beside))


def _refused(worker: Worker, agreed: dict[Path, bool]) -> Path:
    """Find the file that was refused: the first that asks for names which nobody vouched for."""
    left = [path for path, vouched in agreed.items() if not vouched]
    strange = (
        path
        for path in left
        if any(each.standing != "known" for each in worker.look_into(path).imports)
    )
    return next(strange, left[0])


def _fingerprint(path: Path) -> str:
    with system_errors(
        ModelError,
        f"The file “{path.name}” cannot be read.",
        "Check that it still exists and that you have permission to read it, or choose "
        "another file.",
    ):
        return files.sha256(path)


class Opener(QObject):
    """Opens what is wished.

    Parameters
    ----------
    desk : Desk
        Has the process that the model is opened in, and the files that are trusted.
    owner : QObject
        When it is gone, nothing is told.

    Attributes
    ----------
    wish : Wish or None
        What was wished last.
    share : Share
        What is under way.

    Signals
    -------
    began
        Something is being opened: what was open before is not any longer.
    ended
        Nothing is being opened any longer.
    opened : Untrusted or Stranded or Opened
        What came of it.
    refused : FairDeskError
        Why it cannot be opened.
    """

    began = Signal()
    ended = Signal()
    opened = Signal(object)
    refused = Signal(object)

    def __init__(self, desk: Desk, owner: QObject) -> None:
        super().__init__(owner)
        self.wish: Wish | None = None
        self._desk = desk
        self._stop = Event()
        self.share = Share("")
        self._reader = Latest(self)
        self._reader.ended.connect(self.ended)

    def open(self, wish: Wish) -> None:
        """Open a model; a program that is not on the list only when it is trusted."""
        self.wish = wish
        self._stop = stop = Event()
        worker, trusted = self._desk.model, tuple(self._desk.settings.trusted)

        self.share = share = Share("")

        def say(sentence: str) -> None:
            share.doing = f"{sentence}…"

        say(f"Opening {wish.path.name}")
        self.began.emit()
        self._reader.ask(
            lambda: open_files(worker, trusted, wish, say, stop.is_set),
            self.opened.emit,
            self.refused.emit,
        )

    def open_again(self, *, output: str | None = None, make_environment: bool = False) -> None:
        """Open the same once more, with another output that decides or in an environment."""
        if self.wish is not None:
            wish = self.wish if output is None else replace(self.wish, output=output)
            self.open(replace(wish, make_environment=make_environment or wish.make_environment))

    def trust(self, sha256: str) -> None:
        """Open what is a program, now that the auditor trusts it."""
        self._desk.settings.trust(sha256)
        self.open_again()

    def add(self, path: Path) -> None:
        """Open it with one more file beside it."""
        if self.wish is not None and path not in self.wish.companions:
            self.open(replace(self.wish, companions=(*self.wish.companions, path)))

    def remove(self, path: Path) -> None:
        """Open it without a file beside it."""
        if self.wish is not None:
            companions = tuple(each for each in self.wish.companions if each != path)
            self.open(replace(self.wish, companions=companions))

    def stop(self) -> None:
        """Open nothing any longer; what comes of it is dropped."""
        self._stop.set()
        self._reader.drop()
        self.ended.emit()


_DOWNLOAD = "(a download of about 300 megabytes from the package registry)"


def offer_versions(banner: Banner, better: Requirement, make: Callable[[], object]) -> None:
    """Say that a model was opened with other versions, and offer the right ones."""
    banner.say(
        better.mismatch,
        "It was opened, but its outputs may differ from those with the versions it was saved with. "
        f"FairDesk can open it with the right versions in a separate environment {_DOWNLOAD}.",
        [(f"Open with {better.title}…", make)],
    )


def offer_environment(
    banner: Banner,
    result: Stranded,
    make: Callable[[], object],
    another: tuple[str, Callable[[], object]],
) -> None:
    """Say why a model cannot be opened, and offer an environment in which it can."""
    banner.tell(
        ModelError(
            result.error.what,
            why=result.needed.mismatch,
            remedy=(
                "FairDesk can open it with the right versions in a separate environment, which is "
                f"created once {_DOWNLOAD}."
            ),
        ),
        [(f"Create environ&ment with {result.needed.title}", make), another],
    )


class EmptyPart(QWidget):
    """The place of the model, and below it the columns that may hold its decisions.

    Signals
    -------
    asked
        The auditor wants to choose a file.
    taken : str
        A column with decisions is to stand for the model.
    """

    asked = Signal()
    taken = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.zone = DropZone(
            "Drop a model file here",
            f"{MODEL_FORMATS}; a TensorFlow SavedModel is a folder: drop the folder",
        )
        self.zone.asked.connect(self.asked)
        self.column = bounded(Choice("Choose a column…", deliberate=True), 20)
        self.column.activated.connect(lambda: self.taken.emit(self.column.currentText()))
        said = quiet(
            "Without the model, FairDesk can use its decisions in a column of the data: groups can "
            "be compared and a report written. Methods that query the model need the model itself."
        )
        decisions = labelled("Column with its &decisions", self.column)
        row = layouts.row(layouts.grow(said), decisions, spacing=theme.WIDE)
        self._without = Card(row, margin=theme.GAP)
        layouts.column(layouts.grow(self.zone), self._without, on=self, spacing=theme.GAP)

    def show_columns(self, state: WizardState) -> None:
        """Offer the columns of the data, once it is known which outcome is favourable."""
        self._without.setVisible(state.table is not None and bool(state.favourable))
        self.column.clear()
        if state.table is not None:
            self.column.addItems(list(state.label_candidates()))
            self.column.setCurrentIndex(-1)


class Outcome(NamedTuple):
    """Which outcome of the data is asked about: its column, and the favourable value of that."""

    label: str
    favourable: str


class Standing(NamedTuple):
    """What a feeding comes to: a mapping, or ``None`` and what is wrong in it or missing."""

    mapping: Mapping | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """What came of trying the model on the rows."""

    mapping: Mapping
    proof: InputCheck
    note: str
    offers: tuple[Offer, ...] = ()
    numberings: tuple[Numbering, ...] = ()


class Feeding:
    """How a model is fed, as far as that is known.

    Attributes
    ----------
    fed : Mapping or Proposal, optional
        What is proposed or chosen; ``None`` before anything is.
    good : str, optional
        Which output the auditor called favourable.
    notes : tuple[str, ...]
        What is assumed in it.
    offers : tuple[Offer, ...]
        Other ways, by which the model may decide more as the data do.
    unprepared : (Mapping, InputCheck), optional
        The way for which these are offered.
    numberings : tuple[Numbering, ...]
        For each column whose numbers were guessed, the orders that authors use.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin with another model."""
        self.fed: Fed | None = None
        self.good: str | None = None
        self.notes: tuple[str, ...] = ()
        self.offers: tuple[Offer, ...] = ()
        self.unprepared: tuple[Mapping, InputCheck] | None = None
        self.numberings: tuple[Numbering, ...] = ()
        self._by_hand = self._confirmed = False
        self._threshold: float | None = None
        self._first_notes: tuple[str, ...] = ()

    def begin_anew(self) -> None:
        """Have it proposed again: the data, or what is asked of them, are others."""
        self.fed, self._by_hand, self.numberings = None, False, ()

    def propose(self, card: ModelCard, table: Table, outcome: Outcome) -> Dialect:
        """Propose it where nothing is known of it; return how the table is to be read for it."""
        if self.fed is not None:
            return table.source.dialect
        made = propose(card, table, *outcome, self.good, threshold=self._threshold)
        reading = known_values.settled(card, table, made.inputs)
        # what is guessed is asked about
        others = (note for note in made.notes if note != made.guess)
        self.fed, self.notes = made, (*reading.notes, *others)
        return reading.dialect

    def standing(self, card: ModelCard, table: Table, label: str) -> Standing:
        """Return what it comes to; something must be proposed or chosen."""
        fed = self.fed
        if fed is None:
            return Standing(None)
        wrong = problems(fed, card, table, label)
        if isinstance(fed, Mapping):
            return Standing(None, wrong) if wrong else Standing(fed)
        if wrong or fed.answer is None or None in fed.inputs:
            return Standing(None, self._missing(fed.problems, wrong, gaps=None in fed.inputs))
        return Standing(fed.mapping())

    def _missing(
        self, first: tuple[str, ...], wrong: tuple[str, ...], *, gaps: bool
    ) -> tuple[str, ...]:
        """Gather what is to be told: of what is missing once, as long as it is true."""
        if not first or (gaps and self._by_hand):
            # what was missing at first is partly there now
            return wrong
        return tuple(dict.fromkeys((*first, *(wrong[1:] if gaps else wrong))))

    def trial(
        self,
        mapping: Mapping,
        card: ModelCard | None,
        table: Table,
        label: str,
        check: Callable[[Mapping, Table], InputCheck],
    ) -> Callable[[], Tried]:
        """Return what tries a mapping, and others beside it; it may run in any thread.

        Parameters
        ----------
        card, table, label
            The model, the data, and the column of their outcome.
        check : callable
            Tries a mapping on rows.
        """
        answer = None if isinstance(self.fed, Mapping) or self.fed is None else self.fed.answer
        # what was tried of a column stays beside the choice, whatever is confirmed of others
        known = self.numberings if self._confirmed else None
        asked = [each.column for each in self.numberings]
        settle = self.good is None and answer is not None and not answer.clear

        def call() -> Tried:
            chosen, note, proof = mapping, "", check(mapping, table)
            if settle:
                chosen, note = settled(mapping, proof)
                if chosen != mapping:
                    proof = check(chosen, table)
            found = (
                ()
                if card is None
                else offers(check, card, table, label, chosen, proof, clear=not settle)
            )
            columns = tuple(dict.fromkeys((*asked, *chosen.guessed)))
            numbered = known or tuple(numberings(check, table, chosen, columns))
            return Tried(chosen, proof, note, found, numbered)

        return call

    def take(self, tried: Tried) -> None:
        """Keep what came of a trial: from here on outputs mean what they were found to mean."""
        if tried.note:
            self.notes = (*self.notes, tried.note)
        self.fed, self.numberings = tried.mapping, tried.numberings
        self._confirmed = False
        if all(tried.mapping != mapping for mapping in self._choices()):
            # what was offered is for how the model was fed before
            self.offers, self.unprepared = tried.offers, (tried.mapping, tried.proof)
            self._first_notes = self.notes

    def choose(self, mapping: Mapping) -> None:
        """Take a way that is offered."""
        self.change(mapping)
        # what was assumed of the order of the inputs is no more, where another was chosen
        arranged = any(
            offer.mapping == mapping and read_key(offer.key).arrangement for offer in self.offers
        )
        self.notes = () if arranged else self._first_notes

    def confirm(self, columns: tuple[str, ...], codes: Codes | None, table: Table) -> None:
        """Take the numbers of some columns' values: these, or those that they have."""
        self._confirmed = True
        for column in columns:
            if self.fed is not None:
                self.fed = renumbered(self.fed, column, codes, table)

    def change(self, fed: Fed) -> None:
        """Take what the auditor made of it."""
        self.fed, self._by_hand = fed, True

    def connect(self, position: int, attribute: str, card: ModelCard, table: Table) -> None:
        """Feed an input from another column, or with a constant.

        Raises
        ------
        FairDeskError
            It cannot be fed so.
        """
        if self.fed is None:
            return
        self._by_hand = True
        if attribute == CONSTANT:
            self.fed = constant(self.fed, position, 0.0, card)
        else:
            self.fed = remap(self.fed, position, attribute, table, card)

    def read_outputs(
        self, good: str, threshold: float | None, card: ModelCard, table: Table, outcome: Outcome
    ) -> None:
        """Take which output is favourable, and from which score on.

        Raises
        ------
        FairDeskError
            The outputs cannot be read so.
        """
        if self.fed is None:
            return
        self.good, self._threshold = good, threshold
        self.fed = answered(self.fed, answer_of(card, table, *outcome, good, threshold))

    def name_decisions(self, names: tuple[str, ...]) -> None:
        """Take what the model's decisions are called."""
        if isinstance(self.fed, Mapping):
            self.fed = msgspec.structs.replace(self.fed, names=names)

    def _choices(self) -> tuple[Mapping, ...]:
        """Return the ways that are offered, and that before them."""
        before = () if self.unprepared is None else (self.unprepared[0],)
        return (*before, *(offer.mapping for offer in self.offers)) if self.offers else ()

"""Data and model opened and fitted together, and the model of an audit that is opened again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fairdesk.audit.environments import environments
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.worker.client import Worker
from fairdesk.data.columns.derived import dated, default_date, find_groups, grouped
from fairdesk.data.columns.rereading import check_reading, included, retype
from fairdesk.data.profiling.outcomes import canonical, comparison
from fairdesk.data.table import ColumnReading, Dialect, Kind, Table
from fairdesk.errors import DataError, ModelError, SpecError, concerning
from fairdesk.files import sha256
from fairdesk.models.inputs import input_check, mapping_file
from fairdesk.models.inputs.editing import complete
from fairdesk.models.inputs.input_check import InputCheck, settled
from fairdesk.models.inputs.mapping import known_values
from fairdesk.models.inputs.mapping.making import input_names, listing
from fairdesk.models.inputs.mapping.propose import Proposal, columns_in_order, propose
from fairdesk.models.inputs.numbering import (
    Numbering,
    check_used,
    numberings,
    read_codes,
    with_codes,
)
from fairdesk.models.inputs.usual import Offer, Preparing, fitted, offers, read_key
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.models.preparation.beside import not_used, preparing_files, with_codes_beside
from fairdesk.samples import is_sample_file

#: So many inputs that are open are written down: all of a few, of many two as an example.
_MOST_GAPS, _GAPS_SHOWN = 4, 2
_GAP = "to be filled in: “from” is a column, “value” is the same for all rows"


class Subject(msgspec.Struct, frozen=True):
    """What is to be audited, as somebody names it.

    Attributes
    ----------
    data : Path
        The table's file.
    label, favourable : str
        The column with the decision or the truth, and its value that is good for the person.
    model : Path, optional
        The model file; without one ``predictions`` names the column with its decisions.
    predictions : str
        That column.
    model_favourable : str, optional
        The model's class that means the favourable value.
    companions : tuple[Path, ...]
        Files beside the model that tell how it is fed.
    map : Path, optional
        How the model's inputs are made, where that is not as proposed.
    codes : Path, optional
        The numbers that the model takes for the values of columns, as
        `fairdesk.models.inputs.numbering.read_codes` reads them.
    table : str
        The sheet or table, of a data file with several.
    output : str
        The output that decides, of a model with several.
    threshold : float, optional
        Where the model's decision changes, when not at 0.5.
    trusted : bool
        Whether a model file that is a program may run. FairDesk's own samples always may.
    make_environment : bool
        Whether an environment with the versions that the model was saved with may be made.
    text : str
        The column with the texts that the model reads, where it need not be found.
    columns : dict[str, ColumnReading]
        How columns are read, where that is not found by looking.
    encoding_mended : bool
        Whether texts in another encoding than the rest of the file are mended.
    prepare : str
        A usual preparation that the auditor chose, fitted on the table: as
        `fairdesk.models.inputs.usual.read_key` reads it.
    protected : tuple[str, ...]
        Of the protected columns those of dates get a column of ages.
    age_at : str
        The date at which these are, as ISO 8601 writes it, if not
        `fairdesk.data.columns.derived.default_date`.
    """

    data: Path
    label: str
    favourable: str
    model: Path | None = None
    predictions: str = ""
    model_favourable: str | None = None
    companions: tuple[Path, ...] = ()
    map: Path | None = None
    codes: Path | None = None
    table: str = ""
    output: str = ""
    threshold: float | None = None
    trusted: bool = False
    make_environment: bool = False
    text: str = ""
    columns: dict[str, ColumnReading] = msgspec.field(default_factory=dict)
    encoding_mended: bool = False
    prepare: str = ""
    protected: tuple[str, ...] = ()
    age_at: str = ""


@dataclass(frozen=True)
class Inspection:
    """What came of opening them.

    Attributes
    ----------
    table : Table
        The data.
    favourable : str
        The favourable value as the label column writes it.
    card : ModelCard
        The model.
    contents : Contents
        What its file is made of.
    mapping : Mapping
        How it is fed.
    proof : Proof, optional
        How far it agrees with the label; none where the label is its decision itself.
    notes : tuple[str, ...]
        What was assumed while fitting them together, a sentence each.
    offers : tuple[Offer, ...]
        Usual preparations with which it would agree clearly better: for the auditor to choose.
    """

    table: Table
    favourable: str
    card: ModelCard
    contents: Contents
    mapping: Mapping
    proof: InputCheck | None
    notes: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()

    @property
    def decision(self) -> str:
        """The favourable decision, as the model calls it."""
        return self.mapping.decisions(self.card)[self.mapping.favourable_class]


def inspect(worker: Worker, subject: Subject, say: Callable[[str], None]) -> Inspection:
    """Read the data, open the model, fit them together, and try the model on the rows.

    Parameters
    ----------
    say : callable
        Told what goes on, a sentence at a time.

    Raises
    ------
    FairDeskError
        When one of it cannot be done.
    """
    with concerning("data"):
        table = _table(worker, subject)
    with concerning("text"):
        table = _with_text(table, subject)
    with concerning("label"):
        table.index(subject.label)
    with concerning("favourable"):
        favourable = canonical(table, subject.label, subject.favourable)
    if subject.model is None:
        return _without_model(subject, table, favourable)
    # an error of opening may be that of a companion file, which it names
    with concerning("" if subject.companions else "model"):
        contents = worker.look_into(subject.model)
        preparing = preparing_files(subject.model, worker.look_into)
        card = opened(worker, subject, subject.model, contents, say)
    with concerning("map"):
        said = mapping_file.read(subject.map) if subject.map is not None else mapping_file.MapFile()
    with concerning("codes"):
        codes = read_codes(subject.codes) if subject.codes is not None else {}
    chosen_key = subject.prepare or said.prepare
    with concerning("prepare" if subject.prepare else "map"):
        how = read_key(chosen_key) if chosen_key else Preparing()
    table, proposal, notes = _proposed(worker, table, card, subject, favourable, said, codes, how)
    notes = (*_several_outputs(card, subject), *_apart(table, subject), *notes)
    with concerning("map"):
        proposal = mapping_file.apply(said, proposal, with_codes(codes, card), table)
    with concerning("codes"):
        check_used(codes, proposal, card)
    beside = tuple(_beside(not_used(card, preparing)))
    mapping = _prepared(_completed(proposal, card, table, subject, beside), table, how)
    # what opens may still fail when it is asked
    with environments.way_out(None if card.environment else environments.needed(contents)):
        proof = worker.prove(mapping, table, subject.label, favourable)
    notes = (*notes, *beside, *proposal.notes)
    clear = proposal.answer is None or proposal.answer.clear
    if not clear:
        chosen, note = settled(mapping, proof)
        notes = (*notes, note)
        if chosen != mapping:
            mapping, proof = chosen, worker.prove(chosen, table, subject.label, favourable)
    offered: tuple[Offer, ...] = ()
    if not chosen_key:
        say("Checking whether the inputs need scaling")
        offered = offers(
            lambda other, rows: worker.prove(other, rows, subject.label, favourable),
            card,
            table,
            subject.label,
            mapping,
            proof,
            clear=clear,
        )
    if table.source.sample is not None:
        say("Checking the inputs on all rows")
        proof = worker.prove_all(mapping, table, subject.label, favourable, proof)
    card = msgspec.structs.replace(card, repeatability=proof.repeatability)
    return Inspection(table, favourable, card, contents, mapping, proof, notes, offered)


def numbered_ways(worker: Worker, subject: Subject, found: Inspection) -> tuple[Numbering, ...]:
    """Try for each column whose numbers were guessed the orders that authors use."""
    table, mapping = found.table, found.mapping

    def check(other: Mapping, rows: Table) -> InputCheck:
        return worker.prove(other, rows, subject.label, found.favourable)

    return tuple(numberings(check, table, mapping, mapping.guessed))


def _proposed(
    worker: Worker,
    read: Table,
    card: ModelCard,
    subject: Subject,
    favourable: str,
    said: mapping_file.MapFile,
    codes: dict[str, dict[str, float]],
    how: Preparing,
) -> tuple[Table, Proposal, tuple[str, ...]]:
    """Propose the model's inputs, of the table read as the model's encoders know its cells.

    Returns
    -------
    tuple of Table, Proposal and tuple[str, ...]
        The table with the types that the model takes, its inputs, and what was assumed.
    """
    mapped = [entry.column for entry in said.inputs]

    def proposed() -> tuple[Table, Proposal]:
        table = _with_what_it_takes(read, card, subject, favourable, mapped)
        table = _without_other_texts(table, card, subject.text)
        with concerning("prepare" if subject.prepare else "map"):
            return table, propose(
                with_codes(codes, mapping_file.with_names(said, card)),
                table,
                subject.label,
                favourable,
                subject.model_favourable,
                threshold=subject.threshold,
                arrangement=how.arrangement,
            )

    table, proposal = proposed()
    reading = known_values.settled(card, table, proposal.inputs)
    if reading.dialect != table.source.dialect:
        with concerning("data"):
            read = included(worker.read_table(subject.data, reading.dialect), _decided(subject))
            read = _with_text(read, subject)
        table, proposal = proposed()
    return table, proposal, (*_included(read, table), *reading.notes)


def _prepared(mapping: Mapping, table: Table, how: Preparing) -> Mapping:
    """Scale the inputs as the auditor chose."""
    prepared = fitted(mapping, table, how)
    if how.fit is not None and prepared == mapping:
        raise SpecError(
            "None of the model’s inputs can be scaled on the table.",
            why=(
                "They are already scaled by a companion file or the mapping file, or they are "
                "texts or categories."
            ),
            remedy="Omit the preparation, or omit the scaler that came with the model.",
            setting="prepare",
        )
    return prepared


def _table(worker: Worker, subject: Subject) -> Table:
    return grouped(_read(worker, subject), (subject.label, subject.predictions))


def _apart(table: Table, subject: Subject) -> Iterator[str]:
    """Say which attributes in several columns cannot be combined."""
    groups = find_groups(table, (subject.label,)) if table.source.sample is not None else {}
    for columns in groups.values():
        yield (
            f"The columns {listing(columns)} are one attribute, but the table is read in parts: a "
            "search changes each of them alone. Audit a random part of its rows, in a file that "
            "fits into memory, to have them changed together."
        )


def _read(worker: Worker, subject: Subject) -> Table:
    table = _found_table(worker, subject)
    born = dated(table, subject.protected)
    if not subject.columns and not subject.encoding_mended and not born:
        return table
    for name in subject.columns:
        with concerning("columns"):
            table.index(name)
    dialect = msgspec.structs.replace(
        table.source.dialect,
        columns=subject.columns,
        encoding_mended=subject.encoding_mended,
        ages={name: subject.age_at or default_date(table, name).isoformat() for name in born},
    )
    table = included(worker.read_table(subject.data, dialect), _decided(subject))
    for name, reading in subject.columns.items():
        with concerning("columns"):
            check_reading(table.column(name), reading)
    return table


def _decided(subject: Subject) -> list[str]:
    """Return the columns whose type the auditor chose: these are not excluded unasked."""
    return [name for name, each in subject.columns.items() if each.numeric is not None]


def _found_table(worker: Worker, subject: Subject) -> Table:
    if subject.table:
        return worker.read_table(subject.data, Dialect(table=subject.table))
    table = worker.read_table(subject.data)
    others = [name for name in table.source.tables if name != table.source.dialect.table]
    if others and subject.label not in table.names:
        raise DataError(
            f"There is no column “{subject.label}” in the table that was read, "
            f"“{table.source.dialect.table}”.",
            remedy=f"Choose another: {listing(others)}.",
            setting="table",
        )
    return table


def _with_text(table: Table, subject: Subject) -> Table:
    """Take the column of texts that was named for one, though its texts be few or short."""
    if not subject.text:
        return table
    if subject.text == subject.label or table.column(subject.text).kind.is_number:
        held = "is the label" if subject.text == subject.label else "holds numbers"
        raise SpecError(
            f"The column “{subject.text}” {held}, so it is not a column of texts.",
            remedy="Give the column with the texts that the model reads.",
        )
    return retype(table, subject.text, Kind.TEXT)


def _without_other_texts(table: Table, card: ModelCard, text: str) -> Table:
    """Ignore texts besides the one that was named, so that this is what the model reads."""
    for column in table.columns if text else ():
        if column.kind is Kind.TEXT and column.name not in (text, *card.inputs):
            table = retype(table, column.name, Kind.IGNORED)
    return table


def _completed(
    proposal: Proposal, card: ModelCard, table: Table, subject: Subject, beside: Sequence[str]
) -> Mapping:
    """Give the mapping; where inputs are open, the error shows how a file says what is missing."""
    try:
        return complete(proposal, card, table, subject.label)
    except ModelError as error:
        if None not in proposal.inputs:
            raise
        gaps = _gaps(proposal, card, table, subject)
        example = json.dumps({"inputs": gaps}, ensure_ascii=False)
        left = proposal.inputs.count(None) - len(gaps)
        more = f", and {left:,} more like these" if left else ""
        raise ModelError(
            error.what,
            why=error.why,
            remedy=" ".join((*beside, ""))
            + "Choose the data that belong to this model. If an encoder or a scaler comes "
            "before it, add that file with --companion. Or specify how each input is made in a "
            f"file for --map, like {example}{more}.",
        ) from error


def _gaps(
    proposal: Proposal, card: ModelCard, table: Table, subject: Subject
) -> list[dict[str, str | None]]:
    """Write down the inputs that are open, for the auditor to fill in: nothing is made up."""
    places = [place for place, item in enumerate(proposal.inputs) if item is None]
    names, entries = input_names(card), []
    for place in places if len(places) <= _MOST_GAPS else places[:_GAPS_SHOWN]:
        text = card.accepts[place : place + 1] == ("text",)
        columns = _left_over(proposal, table, subject.label, text=text)
        entry: dict[str, str | None] = {"input": names[place]}
        if len(columns) == len(places) == 1:
            entry["from"] = columns[0]
        else:
            entry |= {"value": None, "why": _GAP}
        entries.append(entry)
    return entries


def _left_over(proposal: Proposal, table: Table, label: str, *, text: bool) -> list[str]:
    """Return the columns that no input is made from; of text only, where one takes it."""
    used = {item.attribute for item in proposal.inputs if item is not None} | {label}
    left = [c for c in table.columns if c.kind is not Kind.IGNORED and c.name not in used]
    prose = [column for column in left if text and column.kind is Kind.TEXT]
    return [column.name for column in prose or left]


def _several_outputs(card: ModelCard, subject: Subject) -> Iterator[str]:
    """Say which output decides where nobody chose one of several."""
    if len(card.outputs) > 1 and not subject.output:
        yield (
            f"The model has several outputs: {listing(card.outputs)}. “{card.output}” was chosen: "
            "check it."
        )


def _beside(preparing: Iterable[Path]) -> Iterator[str]:
    """Offer files next to the model that prepare inputs."""
    for path in preparing:
        yield (
            f"“{path.name}” next to the model holds a scaler or an encoder, and is not used. If it "
            f"belongs to this model, add it with --companion “{path}”."
        )


def _without_model(subject: Subject, table: Table, favourable: str) -> Inspection:
    column = subject.predictions
    wanted = subject.model_favourable or subject.favourable
    if subject.threshold is not None:
        sign = (comparison(wanted) or (">=",))[0]
        wanted = f"{sign} {subject.threshold!r}"
    with concerning("predictions"):
        table.index(column)
    with concerning("model_favourable" if subject.model_favourable else "favourable"):
        decided = canonical(table, column, wanted)
    card = input_check.card_of(table, column)
    proof = None
    if column != subject.label:
        proof = input_check.check_predictions(table, column, decided, subject.label, favourable)
    return Inspection(
        table, favourable, card, Contents("predictions"), input_check.mapping_of(decided), proof
    )


def opened(
    worker: Worker, subject: Subject, model: Path, contents: Contents, say: Callable[[str], None]
) -> ModelCard:
    """Open the model, in an environment of its own where it needs one that is there."""
    say(f"Opening {model.name}")
    trusted = subject.trusted or (model.is_file() and is_sample_file(sha256(model)))
    environment = _environment(contents, subject, say)
    with environments.way_out(None if environment else environments.needed(contents)):
        card = worker.open_model(
            model,
            trusted=trusted,
            output=subject.output,
            companions=[
                Companion(str(path), trusted=subject.trusted)
                for path in with_codes_beside(model, subject.companions)
            ],
            command=environments.command(environment) if environment else None,
        )
    if environment is None:
        return card
    return msgspec.structs.replace(card, environment=environment.title)


def _environment(
    contents: Contents, subject: Subject, say: Callable[[str], None]
) -> environments.Environment | None:
    """Find or make the environment that the file needs, where it needs one."""
    needed = environments.needed(contents)
    if needed is None:
        return None
    there = environments.find(needed, say)
    if there is None and subject.make_environment:
        return environments.make(needed, say, lambda: False)
    return there


def _with_what_it_takes(
    table: Table, card: ModelCard, subject: Subject, favourable: str, mapped: Iterable[str]
) -> Table:
    """Include excluded columns that the model takes: without a window nobody else can."""
    names = card.inputs if card.named else card.hints.features
    wanted = {*names, *mapped} - {subject.label}
    if not names:
        wanted.update(columns_in_order(card, table, subject.label, favourable))
    return included(table, wanted)


def _included(before: Table, table: Table) -> Iterator[str]:
    """Say which columns were excluded, and are inputs of the model after all."""
    names = [
        c.name
        for c, was in zip(table.columns, before.columns, strict=True)
        if was.kind is Kind.IGNORED and c.kind is not was.kind
    ]
    if names:
        yield (
            f"Excluded as identifiers, but taken by the model: {listing(names)}. "
            "Check that the model was trained with them."
        )


class MovedError(ModelError):
    """The model file, or one beside it, is not where the audit had it, or is another one by now.

    Attributes
    ----------
    lost : Path
        Where it was when it was audited.
    """

    def __init__(self, what: str, *, lost: Path, why: str, remedy: str) -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.lost = lost


def check_same(
    fingerprint: str, path: Path, what: str = "The model file", was: Path | None = None
) -> None:
    """Make sure that a file is the audited one, by its fingerprint.

    Raises
    ------
    MovedError
        When the file is missing or another one.
    """
    try:
        found = sha256(path)
    except FileNotFoundError:
        raise MovedError(
            f"{what} is not where it was.",
            lost=was or path,
            why=f"There is no file “{path}”.",
            remedy="Select its present location; the earlier results do not need it.",
        ) from None
    except OSError as error:
        raise MovedError(
            f"{what} cannot be read.",
            lost=was or path,
            why=f"The system reported about “{path}”: {error.strerror or error}.",
            remedy="Select a copy of it; the earlier results do not need it.",
        ) from error
    if found != fingerprint:
        raise MovedError(
            f"{what} is not the audited one.",
            lost=was or path,
            why=f"The SHA-256 hash of “{path}” differs from the audited one: the file was changed "
            "or is a different file.",
            remedy="Select the audited file, or start a new audit of this model.",
        )


def reopen(
    spec: AuditSpec,
    places: dict[Path, Path],
    worker: Worker,
    *,
    trusting: Callable[[Path], bool] = lambda _path: True,
) -> None:
    """Open the audited model again; slow, for a background thread.

    The auditor's trust in the file holds, for it has the same fingerprint.

    Parameters
    ----------
    places : dict of Path to Path
        Where files are now that are not where they were. Files beside the model are looked for
        beside it too.
    worker : Worker
        A fresh process for it. Closing it ends the call with an error.
    trusting : callable
        Whether the auditor who asks now agrees, too, that code of a file runs that needed it when
        it was audited: that audit may be somebody else's.

    Raises
    ------
    MovedError
        When the file is missing or another one.
    TrustRequiredError
        When code of it would have to run, and nobody agrees to that now.
    FairDeskError
        When it cannot be opened.
    """
    original = Path(spec.model.path)
    path = places.get(original, original)
    check_same(spec.model.sha256, path, was=original)
    companions = []
    for each in spec.model.companions:
        was = Path(each.path)
        there = _place(was, places, path.parent)
        check_same(each.sha256, there, f"The companion file “{was.name}”", was)
        trusted = each.trusted and trusting(there)
        companions.append(msgspec.structs.replace(each, path=str(there), trusted=trusted))
    worker.open_model(
        path,
        trusted=spec.trusted and trusting(path),
        output=spec.model.output,
        companions=companions,
        command=_command(spec, path, worker),
    )


def _place(was: Path, places: dict[Path, Path], beside: Path) -> Path:
    """Return where a file beside the model is now: as was shown, where it was, or where that is."""
    near = beside / was.name
    return places.get(was, near if not was.is_file() and near.is_file() else was)


def _command(spec: AuditSpec, path: Path, worker: Worker) -> tuple[str, ...] | None:
    """Give the guest of the environment that the model was audited in; none for FairDesk's own."""
    if not spec.model.environment:
        return None
    needed = environments.needed(worker.look_into(path))
    there = None if needed is None else environments.find(needed)
    if there is None:
        raise ModelError(
            f"The environment in which the model ran no longer exists: {spec.model.environment}.",
            why="Environments are kept in FairDesk’s cache, which may have been emptied.",
            remedy=(
                "Start a new audit with this model, which makes the environment again. The "
                "earlier results do not need it."
            ),
        )
    return environments.command(there)

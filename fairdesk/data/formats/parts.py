"""A table in several files, or larger than memory: read as one, or a block of rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, parquet

from fairdesk.data.columns.columns import (
    by_use,
    coded,
    commonest,
    missing_texts,
    numbered,
    typed,
    typed_numbers,
    typed_texts,
    without,
)
from fairdesk.data.columns.kinds import may_count_rows
from fairdesk.data.columns.texts import Numbers, Texts
from fairdesk.data.formats.delimited import split_rows
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.parquet import explained
from fairdesk.data.formats.raw_table import (
    MOST_CELLS,
    Cells,
    Watch,
    check_width,
    readable,
    unique_names,
)
from fairdesk.data.formats.text_layout import (
    MISSING,
    PERHAPS_MISSING,
    guess_content,
    guess_encoding,
    guess_layout,
    read_first,
    with_content,
)
from fairdesk.data.table import Column, Dialect, Kind, Sample, Source, Table
from fairdesk.errors import DataError
from fairdesk.files import sha256

#: So many rows are read at a time, and of delimited text so many bytes.
BLOCK_ROWS, _BLOCK_BYTES = 1 << 17, 1 << 23
_PARQUET = b"PAR1"
_SAME = "Give all parts the same columns, in the same order, or choose another folder."


class Part(msgspec.Struct, frozen=True):
    """A file of a table in parts: its place below the table's, and its SHA-256."""

    name: str
    sha256: str


class Parts:
    """The files of a table, whose columns are the same.

    Parameters
    ----------
    dialect : Dialect, optional
        How delimited text is written; found by looking at the first part when left out.

    Raises
    ------
    DataError
        When there are no parts, one cannot be read, or it has other columns than the first: the
        message names it.
    """

    def __init__(self, path: Path, dialect: Dialect | None = None) -> None:
        self.path = path
        self.paths = _files(path)
        self.dialect = dialect or Dialect(format="parquet")
        if not is_parquet(self.paths[0]):
            found = _layout(self.paths) if dialect is None else dialect
            self.dialect = msgspec.structs.replace(found, format="csv", table="")
        self.header = self._header(self.paths[0])
        check_width(path, len(self.header))
        for each in self.paths[1:]:
            self._check(each)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, unique."""
        return unique_names(self.header or [""] * len(self.header))

    @property
    def bytes(self) -> int:
        """How large all parts are together."""
        return sum(each.stat().st_size for each in self.paths)

    def name(self, part: Path) -> str:
        """Return a part's place below the table's."""
        return part.name if part == self.path else part.relative_to(self.path).as_posix()

    def fingerprints(self) -> tuple[Part, ...]:
        """Return the parts with their SHA-256."""
        found = []
        for each in self.paths:
            with readable(each):
                found.append(Part(self.name(each), sha256(each)))
        return tuple(found)

    def blocks(self, part: Path) -> Iterator[list[pa.Array]]:
        """Yield a part's rows, some at a time: an array for each column.

        Raises
        ------
        DataError
            When it cannot be read; the message names it.
        """
        with readable(part), self._explained(part):
            if self.dialect.format == "parquet":
                for batch in parquet.ParquetFile(part).iter_batches(BLOCK_ROWS):
                    batch.validate(full=True)
                    yield batch.columns
                return
            yield from split_rows(part, self.dialect, len(self.header), _BLOCK_BYTES)

    def _header(self, part: Path) -> list[str]:
        with readable(part), self._explained(part):
            if is_parquet(part):
                return list(parquet.ParquetFile(part).schema_arrow.names)
            first = read_first(part, self.dialect)
            return first if self.dialect.header else ["" for _ in first]

    def _check(self, part: Path) -> None:
        """Refuse a part of another format, or with other columns than the first."""
        if is_parquet(part) != (self.dialect.format == "parquet"):
            raise DataError(
                f"The parts “{self.name(self.paths[0])}” and “{self.name(part)}” have different "
                "formats.",
                remedy="Choose a folder whose files are all Parquet, or all CSV.",
            )
        header = self._header(part)
        if header == self.header:
            return
        lacking = [name for name in self.header if name not in header]
        more = [name for name in header if name not in self.header]
        differs = [
            *(f"It lacks “{name}”." for name in lacking[:3]),
            *(f"It has “{name}”, which the first part lacks." for name in more[:3]),
        ]
        raise DataError(
            f"The part “{self.name(part)}” has other columns than “{self.name(self.paths[0])}”.",
            why=" ".join(differs) or "They are in another order.",
            remedy=_SAME,
        )

    def _explained(self, part: Path) -> AbstractContextManager[None]:
        remedy = "Write this part again, or remove it from the folder."
        return explained(part, f"The part “{self.name(part)}” cannot be read.", remedy)


def is_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet does."""
    with readable(path), path.open("rb") as stream:
        return stream.read(len(_PARQUET)) == _PARQUET


def is_large(path: Path) -> bool:
    """Return whether a table is in parts, or a Parquet file that memory may not hold."""
    if path.is_dir():
        return True
    if not is_parquet(path):
        return False
    try:
        metadata = parquet.ParquetFile(path).metadata
    except (pa.ArrowException, OSError):
        return False  # whoever reads it says what is wrong
    return bool(metadata.num_rows * metadata.num_columns > MOST_CELLS)


def _layout(paths: Sequence[Path]) -> Dialect:
    """Find how delimited parts are written: most is seen in the largest, encodings in all."""
    found = guess_layout(max(paths, key=lambda each: each.stat().st_size))
    encodings = set()
    for each in paths:
        with readable(each):
            encodings.add(guess_encoding(each))
    # what is read as UTF-8 without a mark may be plain ASCII
    others = encodings - {"utf-8"}
    for encoding in ("latin-1", "cp1252", *sorted(others)):
        if encoding in others:
            return msgspec.structs.replace(found, encoding=encoding)
    return found


def _files(path: Path) -> tuple[Path, ...]:
    """Return the parts in a folder, in the order of their names; what others leave is skipped."""
    if path.is_file():
        return (path,)
    below = sorted(each for each in path.rglob("*") if each.is_file())
    found = [
        each
        for each in below
        if not any(name.startswith((".", "_")) for name in each.relative_to(path).parts)
    ]
    if not found:
        raise DataError(
            f"The folder “{path.name}” has no files in it.",
            remedy="Choose a folder with the parts of a table, as Parquet or CSV.",
        )
    for each in found:
        keyed = [name for name in each.relative_to(path).parts[:-1] if "=" in name]
        if keyed:
            raise DataError(
                f"The folder “{path.name}” is divided by a column: “{keyed[0]}”.",
                why="That column is in the names of its folders, and not in the files.",
                remedy="Write the column into the files.",
            )
    return tuple(found)


def blocks(source: Source, columns: tuple[Column, ...]) -> Iterator[Table]:
    """Yield the rows of a table in parts, in the order of the files.

    Raises
    ------
    DataError
        When a part is missing, cannot be read, or is another one than when the table was read.
    """
    parts = Parts(Path(source.path), source.dialect)
    names = {parts.name(each) for each in parts.paths}
    for name in (*(source.parts.keys() - names), *(names - source.parts.keys())):
        raise _changed(name)
    for part in parts.paths:
        name = parts.name(part)
        for arrays in _checked(parts, part, source.parts[name]):
            packing = Packing(len(columns))
            packing.add(arrays)
            codes = np.empty((len(arrays[0]), len(columns)), order="F")
            for place, cells in enumerate(packing.columns()):
                codes[:, place] = coded(columns[place], cells, source.dialect)
            yield Table(source, columns, codes)


def _checked(parts: Parts, part: Path, fingerprint: str) -> Iterator[list[pa.Array]]:
    """Yield a part's rows; it must be the same file before and after."""
    with readable(part):
        before = part.stat()
    (now,) = (each for each in Parts(part, parts.dialect).fingerprints())
    if now.sha256 != fingerprint:
        raise _changed(parts.name(part))
    yield from parts.blocks(part)
    with readable(part):
        after = part.stat()
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise _changed(parts.name(part))


def _changed(name: str) -> DataError:
    return DataError(
        f"The part “{name}” is not the one that the audit was set up with.",
        why="It was changed, added or removed since.",
        remedy="Restore it, or start a new audit of the data as they are now.",
    )


class Shapes:
    """Keeps of texts of each shape the first, the lowest and the highest, and counts their rows.

    Two texts have one shape where nothing but digits differ.

    Parameters
    ----------
    most : int
        So many shapes are told apart; what comes after counts as one more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._shapes: dict[str, _Shape] = {}

    def add(self, texts: pa.StringArray, rows: NDArray[np.intp]) -> None:
        """Take different texts, and how many rows have each."""
        if not len(texts):
            return
        table = pa.table({"shape": _shapes(texts), "text": texts, "rows": pa.array(rows)})
        found = table.group_by("shape", use_threads=False).aggregate(
            [("text", "first"), ("text", "min"), ("text", "max"), ("rows", "sum")]
        )
        for each in found.select(_AGGREGATES).to_pylist():
            shape, first, low, high, count = each.values()
            if shape not in self._shapes and len(self._shapes) >= self._most:
                shape = ""
            known = self._shapes.setdefault(shape, _Shape(first, low, high))
            known.low, known.high = min(known.low, low), max(known.high, high)
            known.rows += count

    def texts(self) -> dict[str, int]:
        """Return what is kept: texts with the rows that they stand for, 0 for the ends."""
        found = {each.first: each.rows for each in self._shapes.values()}
        for each in self._shapes.values():
            found.setdefault(each.low, 0)
            found.setdefault(each.high, 0)
        return found


@dataclass
class _Shape:
    """Texts that differ in digits only: the first, the lowest, the highest, and their rows."""

    first: str
    low: str
    high: str
    rows: int = 0


_AGGREGATES = ["shape", "text_first", "text_min", "text_max", "rows_sum"]
_POWER = "[0-9.,][eE][+-]?[0-9]+$"
_EXPONENT = r"^(?s:(?P<plain>.*[0-9.,])(?P<power>[eE][+-]?[0-9]+))$"


def _shapes(texts: pa.StringArray) -> pa.StringArray:
    """Return the shape of each text: which of them have one, the same readings as numbers fit.

    Of two texts of one shape the number of one is lower where it comes first as text, or all are
    negative. Leading zeros, powers of ten, fractions and parts of thousandths tell shapes apart.
    """
    shapes = _digits_aside(texts)
    powers = compute.match_substring_regex(texts, _POWER)
    if compute.any(powers).as_py():
        parts = compute.extract_regex(texts.filter(powers), _EXPONENT)
        plain, power = (compute.struct_field(parts, name) for name in ("plain", "power"))
        own = compute.binary_join_element_wise(_digits_aside(plain), power, "")
        shapes = compute.replace_with_mask(shapes, powers, own)
    return shapes


def _digits_aside(plain: pa.StringArray) -> pa.StringArray:
    """Return texts with one digit for all, but for what tells shapes apart."""
    leading = compute.replace_substring_regex(plain, "(^|[^0-9])0", r"\1o")
    digits = compute.replace_substring_regex(leading, "[0-9]", "9")
    signs = [
        compute.if_else(compute.match_substring_regex(plain, pattern), mark, "")
        for pattern, mark in (("[.,][0-9]*[1-9]", "f"), ("[.,][0-9]{3}[0-9]*[1-9]", "t"))
    ]
    return compute.binary_join_element_wise(digits, *signs, "|")


#: So many rows are kept at most, and so many cells.
SAMPLE_ROWS, _SAMPLE_CELLS = 200_000, 20_000_000
#: So many different values of a column are kept.
MOST_VALUES = 10_000
#: Of the generator that chooses the rows.
SEED = 0


def read_parts(path: Path, dialect: Dialect | None, watch: Watch) -> Table:
    """Read a table in parts, or one that is larger than memory; see the module.

    Parameters
    ----------
    dialect : Dialect, optional
        As of `fairdesk.data.formats.reading.read_table`.
    watch : callable
        Told which share of the work is done.

    Returns
    -------
    Table
        Its codes are those of the sample, in the order of the files; its source says which.

    Raises
    ------
    DataError
        As of `Parts`; or when there are fewer than two rows, or a column holds numbers in one part
        and texts in another.
    """
    parts = Parts(path, dialect)
    before = parts.fingerprints()
    names = parts.names
    given = Dialect() if dialect is None else dialect
    as_texts = {i for i, name in enumerate(names) if given.reading(name).numeric is False}
    while True:
        try:
            reservoir, surveys = _surveyed(parts, given, as_texts, watch)
        except _BothError as found:
            # seen late, of numbers that were counted as such
            as_texts.add(found.place)
        else:
            break
    check_unchanged(parts, before)
    if reservoir.seen < 2:
        raise DataError(
            f"The table “{path.name}” has fewer than two rows.",
            remedy="Choose a table with one row per case.",
        )
    sampled = reservoir.cells(len(names), as_texts)
    held = reservoir.seen == len(sampled[0].codes)
    whole = list(sampled)
    if not held:
        whole = [survey.cells(cells) for survey, cells in zip(surveys, sampled, strict=True)]
    table = Cells.under(parts.header if parts.dialect.header else None, whole)
    how = parts.dialect
    if how.format == "parquet":
        how = with_content(how, dialect, table)
    elif dialect is None:
        how = guess_content(how, table)
    columns, codes = [], np.empty((len(sampled[0].codes), len(names)), order="F")
    for place, (survey, name, note) in enumerate(
        zip(surveys, table.names, table.notes, strict=True)
    ):
        if held:
            column, codes[:, place] = typed(name, whole[place], how)
        else:
            column, codes[:, place] = survey.typed(name, whole[place], how)
        columns.append(msgspec.structs.replace(column, note=column.note or note))
    sample = None if held else Sample(len(codes), SEED)
    digests = {each.name: each.sha256 for each in before}
    source = Source(str(path.absolute()), "", reservoir.seen, how, parts=digests, sample=sample)
    watch(1.0)
    # which line of which part is not kept
    return Table(source, tuple(numbered(columns, None)), codes)


class _BothError(Exception):
    """Some blocks of a column of numbers can be kept as such, and some as texts only."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def _surveyed(
    parts: Parts, given: Dialect, as_texts: Collection[int], watch: Watch
) -> tuple[_Reservoir, list[_Survey]]:
    """Go through all rows once; some columns are texts, whatever they are stored as."""
    names = parts.names
    surveys = [_Survey(name, given.tokens(name)) for name in names]
    reservoir = _Reservoir(min(SAMPLE_ROWS, _SAMPLE_CELLS // max(len(names), 1)))
    size, done = max(parts.bytes, 1), 0
    for part in parts.paths:
        for arrays in parts.blocks(part):
            reservoir.add(arrays)
            packing = Packing(len(names), as_texts)
            packing.add(arrays)
            for place, (survey, cells) in enumerate(zip(surveys, packing.columns(), strict=True)):
                stored = arrays[place].type
                number = pa.types.is_integer(stored) or pa.types.is_floating(stored)
                if number and survey.of_numbers and survey.differs(cells):
                    raise _BothError(place)
                survey.add(cells, parts.name(part))
                survey.of_numbers &= number
            watch(min((done + 0.5 * part.stat().st_size) / size, 0.99))
        done += part.stat().st_size
        watch(min(done / size, 0.99))
    return reservoir, surveys


def check_unchanged(parts: Parts, before: Sequence[Part]) -> None:
    """Refuse a table of which a part is another one than before.

    Raises
    ------
    DataError
        Naming the part.
    """
    for was, now in zip(before, parts.fingerprints(), strict=True):
        if was != now:
            raise DataError(
                f"The part “{now.name}” was changed while the table was read.",
                why="Another program wrote to it.",
                remedy="Wait until the other program has finished, then start again.",
            )


class _Reservoir:
    """Keeps so many rows of those that it is given, each with the same chance.

    Every row draws a number; those with the lowest numbers are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._rng = most, np.random.default_rng(SEED)
        self._kept: list[list[pa.Array]] = []
        self._drawn: list[NDArray[np.float64]] = []
        self._limit, self.seen = 1.0, 0

    def add(self, arrays: list[pa.Array]) -> None:
        """Take more rows, an array for each column."""
        count = len(arrays[0]) if arrays else 0
        self.seen += count
        drawn = self._rng.random(count)
        chosen = np.flatnonzero(drawn < self._limit)
        if not chosen.size:
            return
        self._drawn.append(drawn[chosen])
        self._kept.append(_taken(arrays, chosen))
        if sum(map(len, self._drawn)) > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        """Keep the rows with the lowest numbers, in their order."""
        drawn = np.concatenate(self._drawn)
        if len(drawn) <= self._most:
            return
        self._limit = float(np.partition(drawn, self._most)[self._most])
        for place, (numbers, arrays) in enumerate(zip(self._drawn, self._kept, strict=True)):
            chosen = np.flatnonzero(numbers < self._limit)
            self._drawn[place] = numbers[chosen]
            self._kept[place] = _taken(arrays, chosen)

    def cells(self, width: int, as_texts: Collection[int] = ()) -> tuple[Texts | Numbers, ...]:
        """Return the rows that are kept, in their order, as columns; as of `Packing`."""
        self._shrink()
        packing = Packing(width, as_texts)
        for arrays in self._kept:
            packing.add(arrays)
        return packing.columns()


def _taken(arrays: list[pa.Array], chosen: NDArray[np.intp]) -> list[pa.Array]:
    indices = pa.array(chosen)
    return [each.take(indices) for each in arrays]


class _Survey:
    """What all rows have in a column.

    Of texts the first `MOST_VALUES` are counted, and those that may mean "no value". Of others
    as many are kept as show what numbers they may be: of each shape the first, the lowest and the
    highest, and how many rows have it. Two texts have one shape where nothing but digits differ.

    Parameters
    ----------
    missing : collection of str
        What counts as missing, besides what is usual; without spaces around it.
    """

    def __init__(self, name: str, missing: Collection[str]) -> None:
        self._name, self._missing = name, missing
        self._tokens = {"", "+", *MISSING, *PERHAPS_MISSING, *missing}
        self._counts: dict[str, int] = {}
        self._shapes = Shapes(MOST_VALUES)
        #: Rows without a number, by what stands there.
        self._lost: Counter[str] = Counter()
        #: Of numbers the lowest, the highest, and one with a fraction.
        self._extremes: dict[str, float] = {}
        self._numeric: bool | None = None
        #: Whether all blocks so far were stored as numbers.
        self.of_numbers = True
        self._order = _Order() if may_count_rows(name) else None

    def add(self, cells: Texts | Numbers, part: str) -> None:
        """Take the cells of a block."""
        if self._order is not None:
            self._order.add(cells)
        if isinstance(cells, Numbers) and np.isnan(cells.codes).all():
            # nothing in it shows what the column holds
            self._lost[""] += len(cells.codes)
            return
        if self.differs(cells):
            raise DataError(
                f"The column “{self._name}” has another type in the part “{part}” than before.",
                why="It holds numbers in one part, and texts in another.",
                remedy="Write all parts with one type for this column.",
            )
        self._numeric = isinstance(cells, Numbers)
        if isinstance(cells, Numbers):
            codes, lost = without(cells.codes, self._missing)
            self._lost.update(lost)
            self._reach(codes[~np.isnan(codes)])
        else:
            self._count(cells)

    def differs(self, cells: Texts | Numbers) -> bool:
        """Return whether these are texts and those before were numbers, or the other way round."""
        if isinstance(cells, Numbers) and np.isnan(cells.codes).all():
            return False
        return self._numeric is not None and self._numeric != isinstance(cells, Numbers)

    def _reach(self, numbers: NDArray[np.float64]) -> None:
        if not numbers.size:
            return
        extremes = self._extremes
        extremes["low"] = min(extremes.get("low", np.inf), float(numbers.min()))
        extremes["high"] = max(extremes.get("high", -np.inf), float(numbers.max()))
        if "fraction" not in extremes:
            broken = numbers[numbers != np.round(numbers)]
            if broken.size:
                extremes["fraction"] = float(broken[0])

    def _count(self, cells: Texts) -> None:
        counts, texts, found = self._counts, cells.distinct, cells.counts()
        counted = compute.is_in(texts, value_set=pa.array(list(counts), pa.string()))
        counted = counted.to_numpy(zero_copy_only=False)
        counted[np.flatnonzero(~counted)[: max(0, MOST_VALUES - len(counts))]] = True
        counted |= cells.among(self._tokens)
        for text, count in zip(cells.pick(counted), found[counted].tolist(), strict=True):
            counts[text] = counts.get(text, 0) + count
        self._shapes.add(texts.filter(pa.array(~counted)), found[~counted])

    def cells(self, sampled: Texts | Numbers) -> Texts | Numbers:
        """Return the sampled cells, whose texts are all that are known of the column."""
        if isinstance(sampled, Numbers):
            if self._numeric is not False:
                return sampled
            sampled = Texts(pa.array([""]), np.zeros(len(sampled.codes), np.int32))
        rows = dict(self._counts)
        if self._lost[""]:
            rows[""] = rows.get("", 0) + self._lost[""]
        kept = self._shapes.texts()
        rows.update({text: count for text, count in kept.items() if count})
        own = sampled.distinct.to_pylist()
        known = {text: place for place, text in enumerate(dict.fromkeys([*rows, *kept, *own]))}
        lookup = np.array([known[text] for text in own], np.int32)
        weights = np.array([rows.get(text, 0) for text in known], np.int64)
        return Texts(pa.array(list(known), pa.string()), lookup[sampled.codes], weights)

    def typed(
        self, name: str, cells: Texts | Numbers, dialect: Dialect
    ) -> tuple[Column, NDArray[np.float64]]:
        """Return the column, and the codes of the sampled cells."""
        if isinstance(cells, Numbers):
            count, lost = len(cells.codes), +self._lost
            seen = Numbers(np.concatenate([cells.codes, [*self._extremes.values()]]), cells.note)
            column, codes = typed_numbers(name, seen, dialect.tokens(name))
            column = msgspec.structs.replace(
                column,
                missing=lost.total(),
                missing_token=commonest(lost),
                missing_texts=missing_texts(lost),
            )
            codes = codes[:count]
            return self._used(column, codes), codes
        column, lookup = typed_texts(name, cells, dialect)
        codes = np.take(lookup, cells.codes)
        if not self._shapes.texts():
            return self._used(column, lookup, cells.counts()), codes
        column = self._used(column, codes)
        if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
            note = (
                f"It has more than {MOST_VALUES:,} different values. Those after the first "
                f"{MOST_VALUES:,} that are in no sampled row count as missing in group metrics."
            )
            column = msgspec.structs.replace(column, note=note)
        return column, codes

    def _used(
        self, column: Column, codes: NDArray[np.float64], weights: NDArray[np.int64] | None = None
    ) -> Column:
        """Return a column as `by_use` does; what is in a sample shows no order of rows."""
        ones = np.ones(len(codes), np.int64)
        column = by_use(column, codes, ones if weights is None else weights)
        if column.kind.is_number and self._order is not None and self._order.counts_rows:
            return msgspec.structs.replace(column, kind=Kind.IGNORED)
        return column


class _Order:
    """Whether all cells so far just number the rows, from 0 or from 1."""

    def __init__(self) -> None:
        self.counts_rows, self._next = True, np.nan

    def add(self, cells: Texts | Numbers) -> None:
        """Take the cells of a block."""
        if not self.counts_rows or not len(cells.codes):
            return
        if isinstance(cells, Numbers):
            codes = cells.codes
        else:
            numbers = cells.numbers(np.ones(len(cells), bool), ".")
            codes = np.full(1, np.nan) if numbers is None else numbers[cells.codes]
        if np.isnan(self._next):
            self._next = 1.0 if codes[0] == 1 else 0.0
        self.counts_rows = bool((codes == self._next + np.arange(len(codes))).all())
        self._next += len(codes)

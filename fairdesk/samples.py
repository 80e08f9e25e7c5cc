"""The built-in samples: data and models to look around with, and what to ask of them."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import msgspec

from fairdesk.errors import StoreError, system_errors
from fairdesk.files import finished_folder, resources

#: Begins the path of a built-in sample's file in an audit: where FairDesk lies is nobody's concern.
_BUILT_IN = "samples:"
_AUDIT = "audit.fairdesk"


class SampleModel(msgspec.Struct, frozen=True):
    """A model that comes with a sample.

    Attributes
    ----------
    file : str
        Its name in the sample's folder.
    title : str
        For people: ``"Keras network"``.
    sha256 : str
        Its fingerprint; a file with another one is not this model.
    """

    file: str
    title: str
    sha256: str


class Sample(msgspec.Struct, frozen=True):
    """A data file with models, and the question of a ready audit of them.

    Attributes
    ----------
    key : str
        Its name for programs: ``"adult"``.
    title : str
        The audit's title.
    sentence : str
        What it is, one sentence.
    folder : str
        Its folder in the samples' folder.
    data : str
        The CSV file's name in it.
    rows : int
        How many rows it has.
    sha256 : str
        Its fingerprint.
    models : tuple[SampleModel, ...]
        The first one is what a demonstration takes.
    label : str
        The column with the outcome.
    favourable : str
        The outcome that is good for the person.
    protected : tuple[str, ...]
        The columns that are compared.
    person : str
        What one row is, in the singular.
    options : dict[str, int | float | str]
        Of the search, so that a demonstration takes seconds and its files stay small.
    """

    key: str
    title: str
    sentence: str
    folder: str
    data: str
    rows: int
    sha256: str
    models: tuple[SampleModel, ...]
    label: str
    favourable: str
    protected: tuple[str, ...]
    person: str
    options: dict[str, int | float | str]

    @property
    def data_path(self) -> Path:
        """Where its CSV file lies."""
        return self._folder / self.data

    def model_path(self, model: SampleModel) -> Path:
        """Return where one of its models lies."""
        return self._folder / model.file

    @property
    def shipped(self) -> Path:
        """Where its finished audit lies as it comes with FairDesk (`packaging/finished.py`)."""
        return self._folder / _AUDIT

    @property
    def finished(self) -> Path:
        """Where the user's own copy of its finished audit lies, once it was opened."""
        return finished_folder() / self.key / _AUDIT

    @property
    def finished_report(self) -> Path:
        """Where the report of the user's copy lies, once it was made."""
        return self.finished.with_name("report.pdf")

    @property
    def _folder(self) -> Path:
        return _folder() / self.folder


@cache
def samples() -> tuple[Sample, ...]:
    """Return the built-in samples; the first is the one that demonstrations take."""
    manifest = _folder() / "samples.json"
    return msgspec.json.decode(manifest.read_bytes(), type=tuple[Sample, ...])


def is_sample_file(sha256: str) -> bool:
    """Tell by its fingerprint whether a model came with FairDesk.

    Such a file is trusted without a question even where it is a program: FairDesk's own script
    made it.
    """
    return any(sha256 == model.sha256 for sample in samples() for model in sample.models)


def own_finished(sample: Sample, *, anew: bool = False) -> Path:
    """Return the user's own copy of a sample's finished audit, made where there is none.

    Parameters
    ----------
    anew : bool
        Whether a copy that is there makes room for a fresh one; it is kept beside it.

    Raises
    ------
    StoreError
        When it cannot be copied.
    """
    place = sample.finished
    with system_errors(
        StoreError,
        f"The finished audit of the sample “{sample.title}” cannot be copied to “{place.parent}”.",
        "Free space on the disk, or start a new audit of the sample.",
    ):
        if anew and place.parent.exists():
            place.parent.rename(_free(place.parent))
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_suffix(".draft")
            shutil.copyfile(sample.shipped, draft)
            draft.replace(place)
    return place


def kept_path(path: str) -> str:
    """Return a file's path as an audit keeps it: that of a built-in sample on any computer."""
    file = Path(path)
    if not file.is_relative_to(_folder()):
        return path
    return _BUILT_IN + file.relative_to(_folder()).as_posix()


def path_here(kept: str) -> str:
    """Return where a file lies on this computer, by the path that an audit keeps."""
    if not kept.startswith(_BUILT_IN):
        return kept
    return str(_folder() / kept.removeprefix(_BUILT_IN))


def _folder() -> Path:
    return resources() / "samples"


def _free(place: Path) -> Path:
    """Return a name beside a folder that is not taken."""
    number = 1
    while (other := place.with_name(f"{place.name}-earlier-{number}")).exists():
        number += 1
    return other

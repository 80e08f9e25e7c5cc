"""A report with every message translated: what still comes from elsewhere, and its numbers."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import read_po, write_po

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.details import Choice, Details
from fairdesk.audit.store.store import Store
from fairdesk.document.blocks import Chart, Facts, Formula, Grid, Note, PairCard, Report
from fairdesk.report.document import make_report
from fairdesk.report.render import translation
from fairdesk.report.render.pdf import pdf
from fairdesk.results.proofs import Region
from fairdesk.wording import catalogue, figures, language
from fairdesk.wording import proofs as proof_words
from tests.report import repairs
from tests.report.building import people_store, run_into
from tests.report.sections.test_certification import DOMAIN, PEOPLE
from tests.report.test_group_sections import GAP, LINEAR, RULES, TABLES, TERM

PACKAGING = Path(__file__).resolve().parents[3] / "packaging" / "messages.py"
#: At least this share of a report's texts comes from the catalogue.
LEAST = 0.95
#: A number as English writes it: thousands with commas, or one or two decimals after a point.
ENGLISH = re.compile(r"(?<![\w.,/])(\d{1,3}(,\d{3}){2,}|\d+\.\d{1,2})(?![\w.,]|\(\d)")
WRITTEN = "Written by 1 auditor"


def program():
    spec = importlib.util.spec_from_file_location("messages", PACKAGING)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with people_store(tmp_path_factory.mktemp("words"), ("sex", "job", "age")) as held:
        held.write_details(Details({"system": WRITTEN, "purpose": WRITTEN}))
        run_into(held, options={"global_num": 20, "local_num": 20})
        run_into(held, "uniform", options={"samples": 300}, weights=[[1], [2], [1], [1], [1]])
        for method, told in (
            ("testsgd", (*RULES, TERM)),
            ("groups", TABLES),
            ("themis-groups", (GAP,)),
            ("fairfictplay", (LINEAR,)),
            ("certify", (DOMAIN, PEOPLE)),
            ("repair-aequitas", repairs.FIGURES),
        ):
            run = held.begin_run(RunSpec(method))
            held.measure(run, told)
            held.end_run(run, "done")
        yield held


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's settings, with a catalogue that puts every message between ⟦ and ⟧."""
    folder = tmp_path_factory.mktemp("settings")
    held = read_po(BytesIO(program().template()), locale="de")
    for message in held:
        if message.id:
            plural = not isinstance(message.id, str)
            both = tuple(message.id) if plural else (message.id,)
            told = tuple(f"⟦{each}⟧" for each in both)
            message.string = told if plural else told[0]
    (folder / "locales").mkdir()
    with (folder / "locales" / "de.po").open("wb") as stream:
        write_po(stream, held)
    return folder


@pytest.fixture(scope="module")
def translated(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue.files, "settings_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def pseudo(store: Store, translated: None) -> Report:
    added = tuple(f"method/settings-{run.id}" for run in store.runs())
    return make_report(store, Choice(language="de", added=added))


def texts_of(report: Report) -> Iterator[tuple[str, str]]:
    """Yield each text that a catalogue may have, with where it stands."""
    yield "kind", report.kind
    yield "promise", report.promise
    yield from (("cover", fact.name) for fact in report.cover)
    for section in report.sections:
        yield section.key, section.title
        for block in section.blocks:
            tag = str(block.__struct_config__.tag)
            for name in translation.TEXTS.get(tag, ()):
                held = getattr(block, name)
                for text in (held,) if isinstance(held, str) else held:
                    yield f"{section.key}, {tag}, {name}", text
            if isinstance(block, Facts):
                yield from ((f"{section.key}, fact", fact.name) for fact in block.facts)


def test_nearly_all_texts_come_from_the_catalogue(pseudo: Report, store: Store) -> None:
    # names of columns, of programs, and what is a number alone are nobody's to translate
    names = {column.name for column in store.table().columns} | set(store.spec.versions)
    texts = [
        (place, text)
        for place, text in texts_of(pseudo)
        if any(map(str.isalpha, text)) and text not in names
    ]
    missing = [f"{place}: {text}" for place, text in texts if not set("⟦⟧") & set(text)]
    share = 1 - len(missing) / len(texts)
    print(f"{share:.1%} of {len(texts)} texts come from the catalogue; not so:", *missing, sep="\n")
    assert share >= LEAST


def test_what_a_method_s_options_are_is_translated(pseudo: Report) -> None:
    settings = [
        row
        for section in pseudo.sections
        for block in section.blocks
        if isinstance(block, Grid) and "settings-" in block.key
        for row in block.rows
    ]
    told = {name: meaning for name, _, meaning in settings}
    assert re.fullmatch(r"⟦[^⟦⟧]+⟧\. ⟦[^⟦⟧]+⟧", told["perturbation_size"]), told


def test_a_translated_report_can_be_set_and_names_its_language(pseudo: Report) -> None:
    assert pdf(pseudo).startswith(b"%PDF")
    assert language.frame("de")["language"] == "de"


def test_what_the_auditor_wrote_is_never_translated(pseudo: Report) -> None:
    values = [
        fact.value
        for section in pseudo.sections
        for block in section.blocks
        if isinstance(block, Facts)
        for fact in block.facts
    ]
    assert WRITTEN in values
    assert not any("⟦" in row[0] for row in _grid(pseudo, "columns").rows)


def _grid(report: Report, key: str) -> Grid:
    return next(
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Grid) and block.key.rpartition("/")[2] == key
    )


def test_the_sentences_of_results_all_come_from_the_catalogue(
    store: Store, translated: None
) -> None:
    region = Region("consistent", (), 0.2, str(10**18 + 1), 0.1)
    with language.using("de"):
        told = [
            *(each for run in store.runs() for each in figures.sentences(store.spec, run.figures)),
            *(figures.headline(store.spec, run).sentence for run in store.runs()),
            *(figures.effort(run) for run in store.runs()),
            proof_words.region_sentence(store.spec, region),
        ]
    # notes are sentences that a run left in the audit file
    notes = {note for run in store.runs() for each in run.figures for note in _notes(each)}
    assert [each for each in told if "⟦" not in each and each not in notes] == []
    assert any("1.000.000.000.000.000.001" in each for each in told)


def _notes(figure: object) -> tuple[str, ...]:
    return (*getattr(figure, "notes", ()), getattr(figure, "ended", ""))


@pytest.mark.parametrize("template", ["plain", "ll144", "annex-iv", "model-card"])
def test_no_number_of_a_german_report_is_written_in_english(
    store: Store, translated: None, template: str
) -> None:
    report = make_report(store, Choice(template=template, language="de"))
    # what a run left in the audit file, and a limit as the data write it, stay as they are
    notes = {note for run in store.runs() for each in run.figures for note in _notes(each)}
    english = [
        f"{section.key}: {text}"
        for section in report.sections
        for block in section.blocks
        for text in _numbers(block)
        if text not in notes and ENGLISH.search(text.replace("below 20.5", ""))
    ]
    assert english == []


def _numbers(block: object) -> Iterator[str]:
    """Yield the texts of a block in which numbers are the report's own."""
    if isinstance(block, Formula | Note):
        return
    if isinstance(block, Grid):
        # examples of the data, settings, versions and numbers of sections are written as they are
        if block.key.rpartition("/")[2] not in ("columns", "settings", "methods", "tests"):
            yield from (cell for row in block.rows for cell in row)
        yield block.caption
    elif isinstance(block, Chart):
        yield block.alt
        yield from re.findall(r"<text[^>]*>([^<]*)<", block.svg)
    elif isinstance(block, PairCard):
        yield from (text for row in block.outcome for text in (row.first, row.second))
    else:
        tag = str(block.__struct_config__.tag)
        for name in translation.TEXTS.get(tag, ()):
            held = getattr(block, name)
            yield from (held,) if isinstance(held, str) else held


def test_the_template_of_translations_is_up_to_date() -> None:
    made = program()
    assert made.TEMPLATE.read_bytes() == made.template(), "run packaging/messages.py"

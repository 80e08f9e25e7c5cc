"""Numbers, dates and texts of a report in other languages."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairdesk.audit.store.details import LanguageKey
from fairdesk.document.blocks import Fact, Facts, Grid, Heading, Report, Section, Text
from fairdesk.report.render.translation import translated
from fairdesk.wording import catalogue, language, words
from fairdesk.wording.language import moment_text, say, say_many, using

NARROW, NBSP = "\u202f", "\u00a0"
WHEN = datetime(2026, 11, 21, 1, 32, tzinfo=UTC)


@pytest.fixture
def translate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a catalogue into the folder of the user's settings."""
    monkeypatch.setattr(catalogue.files, "settings_folder", lambda: tmp_path)

    def write(content: str, key: LanguageKey = "de") -> None:
        (tmp_path / "locales").mkdir(exist_ok=True)
        header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        plurals = '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
        (tmp_path / "locales" / f"{key}.po").write_text(header + plurals + content, "utf-8")

    return write


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("en", ["1,234.5", f"12.5{NBSP}%", "−0.31", "0.031", f"1.7{NBSP}s", "2,000"]),
        ("de", ["1.234,5", f"12,5{NBSP}%", "−0,31", "0,031", f"1,7{NBSP}s", "2.000"]),
        ("fr", [f"1{NARROW}234,5", f"12,5{NBSP}%", "−0,31", "0,031", f"1,7{NBSP}s", "2 000"]),
    ],
)
def test_numbers_look_as_the_language_writes_them(key: LanguageKey, told: list[str]) -> None:
    told[-1] = told[-1].replace(" ", NARROW)
    with using(key):
        assert [
            words.number(1234.5, 1),
            words.percent(1, 8),
            words.signed(-0.31),
            words.p_text(0.031),
            words.duration(1.7),
            say_many(2000, "{n}", "{n}"),
        ] == told
    assert words.number(1234.5, 1) == "1,234.5"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("en", "21 November 2026, 01:32 UTC"),
        ("de", "21. November 2026, 01:32 UTC"),
        ("fr", "21 novembre 2026 à 01:32 UTC"),
    ],
)
def test_moments_look_as_the_language_writes_them(key: LanguageKey, told: str) -> None:
    with using(key):
        assert moment_text(WHEN) == told


def test_intervals_and_signs() -> None:
    with using("de"):
        assert words.interval(0.037, 0.039, 0.95, 1) == f"95{NBSP}% CI 3,7 to 3,9{NBSP}%"
        assert words.plain(-0.001, 2) == "0,00"
        assert words.plain(-1234.5, 1) == "−1.234,5"
        assert words.short(-0.5) == "−0,5"
        assert words.p_is(0.00001) == "p below 0,0001"


def test_a_sentence_comes_from_the_users_catalogue(translate) -> None:
    translate(
        'msgid "{n} of {people}"\nmsgstr "Von {people} {n}"\n\n'
        'msgid "{n} pair"\nmsgid_plural "{n} pairs"\nmsgstr[0] "ein Paar"\nmsgstr[1] "{n} Paare"\n'
    )
    with using("de"):
        assert say("{n} of {people}", n="3", people="5") == "Von 5 3"
        assert say_many(1200, "{n} pair", "{n} pairs") == "1.200 Paare"
        assert say("not there: {n}", n="3") == "not there: 3"
    with using("fr"):
        assert say("{n} of {people}", n="3", people="5") == "3 of 5"
    assert say("{n} of {people}", n="3", people="5") == "3 of 5"


@pytest.mark.parametrize(
    "bad",
    [
        "Von {people}",
        "Von {people} {n} {m}",
        "Von {people} {n.__class__}",
        "Von {people} {n!r}",
        "Von {people} {n:99999999}",
        "Von {people} {n",
        "<b>{n}</b> {people}",
        "{n} {people}\x07",
    ],
)
def test_an_unfit_translation_stays_english_and_is_logged(
    bad: str, translate, caplog: pytest.LogCaptureFixture
) -> None:
    translate(f'msgid "{{n}} of {{people}}"\nmsgstr "{bad}"\n')
    with caplog.at_level(logging.WARNING), using("de"):
        assert say("{n} of {people}", n="3", people="5") == "3 of 5"
    assert "stays English" in caplog.text


@pytest.mark.parametrize(
    "content", ["no catalogue\n", 'msgid "a\n', '#, fuzzy\nmsgid "a"\nmsgstr "b"\n']
)
def test_what_is_no_catalogue_is_left_out(content: str, translate) -> None:
    translate(content)
    with using("de"):
        assert say("a") == "a"


def test_fixed_texts_are_translated_but_neither_cells_nor_values_nor_what_is_kept(
    translate,
) -> None:
    translate("".join(f'msgid "{each}"\nmsgstr "⟦{each}⟧"\n\n' for each in ("Age", "Data", "Kind")))
    report = Report(
        title="Data", header="Data", kind="Kind", status="Draft", identity="Data",
        cover=(Fact("Data", "Data"),), promise="", manifest="Data",
        sections=(
            Section(
                "Data",
                (
                    Heading("Data"),
                    Text("Age"),
                    Facts((Fact("Data", "Data"),)),
                    Grid(("Data", "Age"), (("Data", "Age"),), (1, 1), caption="Data"),
                ),
            ),
        ),
    )  # fmt: skip
    with using("de"):
        told = translated(report, kept={"Age"})
    (section,) = told.sections
    heading, text, facts, grid = section.blocks
    assert (told.title, told.kind, told.cover) == ("Data", "⟦Kind⟧", (Fact("⟦Data⟧", "Data"),))
    assert (section.title, heading, text) == ("⟦Data⟧", Heading("⟦Data⟧"), Text("Age"))
    assert isinstance(facts, Facts)
    assert isinstance(grid, Grid)
    assert facts.facts == (Fact("⟦Data⟧", "Data"),)
    assert (grid.header, grid.rows, grid.caption) == (
        ("⟦Data⟧", "Age"),
        (("Data", "Age"),),
        "⟦Data⟧",
    )
    assert translated(report) is report


def test_a_report_without_a_catalogue_is_read_aloud_as_english(translate) -> None:
    assert language.frame("de")["language"] == "en"
    translate('msgid "Contents"\nmsgstr "Inhalt"\n')
    frame = language.frame("de")
    assert (frame["language"], frame["contents"], frame["Draft"]) == ("de", "Inhalt", "Draft")

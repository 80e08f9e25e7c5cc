"""The report as JSON: the same content, in a form that programs can rely on."""

import io
import json

import msgspec
import pytest
from pypdf import PdfReader

from fairdesk.audit.store.records import Choice
from fairdesk.document.blocks import Report
from fairdesk.report.document import make_report
from fairdesk.report.render.html import page, structured
from fairdesk.report.render.pdf import pdf
from fairdesk.report.sections.model import caveat
from tests.report.building import people_store, run_into


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("json")) as store:
        run_into(store, "uniform", weights=[[1], [2], [1], [1], [1]], options={"samples": 300})
        yield make_report(store, Choice(added=("results/cost-1", "results/alone-1")))


def test_it_says_first_what_it_is(report):
    assert list(json.loads(structured(report)))[:2] == ["format", "version"]
    assert structured(report).startswith(b'{\n "format": "fairdesk-report",\n "version": 1,')


def test_it_holds_the_whole_report(report):
    held = json.loads(structured(report))
    assert held.pop("format") == "fairdesk-report"
    assert held.pop("version") == 1
    manifest = held.pop("manifest")
    assert manifest == json.loads(report.manifest)
    read = msgspec.convert({**held, "manifest": report.manifest}, Report)
    assert read == report


def test_guessed_numbers_are_said_on_each_page_and_in_json(report, tmp_path):
    assert report.caveat == ""
    with people_store(tmp_path) as store:
        inputs = list(store.spec.mapping.inputs)
        inputs[0] = msgspec.structs.replace(inputs[0], guessed=True)
        mapping = msgspec.structs.replace(store.spec.mapping, inputs=tuple(inputs))
        said = caveat(msgspec.structs.replace(store.spec, mapping=mapping))
    assert inputs[0].attribute in said
    guessed = msgspec.structs.replace(report, caveat=said)
    assert json.loads(structured(guessed))["caveat"] == said
    assert f'<p class="caveat" role="note" dir="auto">{said}</p>' in page(guessed)
    pages = PdfReader(io.BytesIO(pdf(guessed))).pages
    assert len(pages) > 1
    assert all("guessed" in each.extract_text() for each in pages)


def test_the_same_report_gives_the_same_bytes(report):
    assert structured(report) == structured(report)


def test_every_block_says_its_kind(report):
    held = json.loads(structured(report))
    kinds = {block["type"] for section in held["sections"] for block in section["blocks"]}
    assert {"text", "statement", "grid", "chart", "pair", "formula"} <= kinds

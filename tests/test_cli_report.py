"""``fairdesk report``: what it writes, says and logs, and what can go wrong."""

import errno
import io
import json
import shutil
import sqlite3
from pathlib import Path

import lxml.html
import pytest
from pypdf import PdfReader

from fairdesk.audit.store.records import Choice
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.errors import StoreError
from fairdesk.files import sha256
from fairdesk.report.document import make_pdf, write_report
from fairdesk.report.provenance import signing
from tests import phrases
from tests.report.building import people_store, run_into
from tests.report.details import example_details
from tests.report.keys import PASSPHRASE, make_key


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished audit, closed."""
    folder = tmp_path_factory.mktemp("made")
    with people_store(folder) as store:
        run_into(store, "uniform", weights=[[1], [2], [1], [1], [1]], options={"samples": 300})
    return folder / "audit.fairdesk"


@pytest.fixture
def audit(made, tmp_path):
    return Path(shutil.copy(made, tmp_path / "audit.fairdesk"))


def report(capsys, *arguments):
    """Return the exit code, what was printed, and what was complained of."""
    code = cli.main(["report", *map(str, arguments)])
    told = capsys.readouterr()
    return code, told.out, told.err


def refused(capsys, *arguments):
    """Return the line that says why nothing was written."""
    code, out, err = report(capsys, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("fairdesk: ")
    assert len(err.splitlines()) == 1
    assert "unexpected" not in err
    return err


def entries(audit, kind):
    with Store.read(audit) as store:
        return [entry for entry in store.log_entries() if entry.kind == kind]


def kept(audit):
    with Store.read(audit) as store:
        return store.details(), store.choice(), len(store.log_entries())


def details_file(folder, **texts):
    path = folder / "details.json"
    path.write_text(json.dumps({**example_details("plain").texts, **texts}))
    return path


def test_a_pdf_with_its_manifest_and_its_line_in_the_log(audit, tmp_path, capsys):
    out = tmp_path / "report.pdf"
    code, said, err = report(capsys, audit, "--out", out)
    assert (code, err) == (0, "")
    beside = tmp_path / "report.pdf.manifest.json"
    document = PdfReader(out)
    digest = sha256(out)
    assert f"{out}: Draft, {len(document.pages)} pages." in said
    assert f"SHA-256 {digest}" in said
    assert str(beside) in said
    assert "Missing for a final report: Audited system" in said
    told = json.loads(beside.read_text())
    assert told["files"] == [{"name": "report.pdf", "size": out.stat().st_size, "sha256": digest}]
    attached = json.loads(document.attachments["manifest.json"][0])
    assert attached["log"]["head"] == told["log"]["head"]
    (entry,) = entries(audit, "exported")
    assert str(out) in entry.what
    fingerprints = {each["name"]: each["sha256"] for each in json.loads(entry.facts)["files"]}
    assert fingerprints == {out.name: digest, beside.name: sha256(beside)}


def test_a_report_is_the_same_after_it_was_exported(audit, tmp_path, capsys):
    first, second = tmp_path / "a.pdf", tmp_path / "b.pdf"
    for out in (first, second):
        assert report(capsys, audit, "--out", out)[0] == 0
    assert first.read_bytes() == second.read_bytes()
    with Store.read(audit) as store:
        assert make_pdf(store) == first.read_bytes()


def test_html_and_json_hold_the_same_manifest(audit, tmp_path, capsys):
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    assert report(capsys, audit, "--format", "html", "--out", page)[0] == 0
    assert report(capsys, audit, "--format", "json", "--out", data)[0] == 0
    held = json.loads(data.read_text())
    assert held["format"] == "fairdesk-report"
    document = lxml.html.document_fromstring(page.read_text())
    titles = [each.text_content().partition(" ")[2] for each in document.xpath("//main//h2")]
    assert titles == [section["title"] for section in held["sections"]]
    assert (tmp_path / "r.html.manifest.json").is_file()
    assert (tmp_path / "r.json.manifest.json").is_file()


@pytest.mark.parametrize("template", ["plain", "ll144", "annex-iv", "model-card"])
def test_every_template_can_be_had_and_none_is_kept(template, audit, tmp_path, capsys):
    out = tmp_path / "r.json"
    before = kept(audit)
    code, said, _ = report(
        capsys,
        *(audit, "--template", template, "--format", "json", "--out", out, "--json"),
        *("--paper", "us-letter", "--redact", "bands"),
    )
    assert code == 0
    figures = json.loads(said)
    assert figures["status"] == "Draft"
    assert figures["sha256"] == sha256(out)
    assert figures["beside"] == [f"{out}.manifest.json"]
    assert "Audited system" in figures["missing"]
    held = json.loads(out.read_text())
    asked = ("template", "paper")
    assert [held[name] for name in asked] == [template, "us-letter"]
    assert held["redacted"] == figures["redacted"] != ""
    assert json.loads(Path(f"{out}.manifest.json").read_text())["redacted"] == held["redacted"]
    details, choice, count = kept(audit)
    assert (details, choice) == before[:2]
    assert count == before[2] + 1, "only that it was exported"


def test_parts_are_listed_dropped_and_added(audit, tmp_path, capsys):
    code, said, _ = report(capsys, audit, "--list-parts", "--json")
    assert code == 0
    listed = {part["key"]: part for part in json.loads(said)}
    assert listed["limits"]["required"]
    optional = next(key for key, part in listed.items() if not part["shown"])
    out = tmp_path / "r.json"
    code, said, _ = report(
        capsys,
        *(audit, "--format", "json", "--out", out),
        *("--leave-out", "system", "--leave-out", "results/cost-1", "--add", optional),
    )
    assert code == 0
    assert f"Omitted: {phrases.SYSTEM_AND_USE}; {listed['results/cost-1']['title']}." in said
    keys = [
        # what is in the appendix keeps the key of the section that it belongs to
        block.get("key", "")
        if section["key"] == "appendix"
        else f"{section['key']}/{block.get('key', '')}"
        for section in json.loads(out.read_text())["sections"]
        for block in section["blocks"]
    ]
    assert optional in keys
    assert "results/cost-1" not in keys
    code, said, _ = report(capsys, audit, "--list-parts")
    assert code == 0
    assert said.splitlines()[0].split() == ["Key", "Shown", "What"]
    assert kept(audit)[1] == Choice()


def test_what_the_audit_drops_can_be_shown_again(audit, tmp_path, capsys):
    with Store.open(audit) as store:
        store.write_choice(Choice(left_out=("system",)))
    out = tmp_path / "r.json"
    report(capsys, audit, "--format", "json", "--out", out)
    assert json.loads(out.read_text())["left_out"] == [phrases.SYSTEM_AND_USE]
    report(capsys, audit, "--format", "json", "--out", out, "--add", "system")
    assert json.loads(out.read_text())["left_out"] == []
    # of another kind of report, which has no such part
    another = ("--template", "ll144", "--leave-out", "rules")
    assert report(capsys, audit, "--format", "json", "--out", out, *another)[0] == 0
    assert json.loads(out.read_text())["left_out"] == ["Rules and standards"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--leave-out", "result"), "no part “result”. Parts with similar names: results"),
        (("--add", "outcmoes"), "similar names: outcomes"),
        (("--leave-out", "limits"), "“Limitations” cannot be omitted"),
    ],
)
def test_wrong_parts_are_refused(arguments, said, audit, tmp_path, capsys):
    assert said in refused(capsys, audit, "--out", tmp_path / "r.pdf", *arguments)
    assert not (tmp_path / "r.pdf").exists()


def test_a_report_is_final_only_when_everything_is_filled_in(audit, tmp_path, capsys):
    out, details = tmp_path / "r.json", details_file(tmp_path, auditor="", independence="")
    before = kept(audit)
    err = refused(capsys, audit, "--format", "json", "--out", out, "--details", details, "--final")
    assert "cannot be marked as final yet. Still missing: Auditor; Independence." in err
    assert not list(tmp_path.glob("r.json*"))
    assert kept(audit) == before, "not even the details"

    details = details_file(tmp_path)
    code, said, _ = report(
        capsys, audit, "--format", "json", "--out", out, "--details", details, "--final"
    )
    assert code == 0
    assert f"{out}: Final." in said
    assert "Missing" not in said
    assert kept(audit)[0].texts["auditor"] == example_details("plain").texts["auditor"]
    assert json.loads(out.read_text())["status"] == "Final"
    # it stays so, until something changes
    assert ": Final." in report(capsys, audit, "--format", "json", "--out", out)[1]
    details.write_text(json.dumps({"auditor": "Somebody else"}))
    code, said, _ = report(capsys, audit, "--format", "json", "--out", out, "--details", details)
    assert (code, ": Draft." in said) == (0, True)
    held = kept(audit)[0].texts
    assert held["auditor"] == "Somebody else"
    assert held["independence"] == example_details("plain").texts["independence"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"audtior": "A"}', "“audtior”"),
        ('{"auditor": 7}', "“auditor”"),
        ("[1]", phrases.NO_FILE_OF_DETAILS),
        ("{", phrases.NO_FILE_OF_DETAILS),
        (None, "cannot be read"),
    ],
)
def test_details_that_cannot_be_are_refused(content, said, audit, tmp_path, capsys):
    details = tmp_path / "details.json"
    if content is not None:
        details.write_text(content)
    before = kept(audit)
    assert said in refused(capsys, audit, "--out", tmp_path / "r.pdf", "--details", details)
    assert kept(audit) == before


def test_a_logo_must_be_a_picture(audit, tmp_path, capsys):
    logo = tmp_path / "logo.svg"
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'
    logo.write_text(svg.format('<rect width="9" height="9"/>'))
    out = tmp_path / "r.json"
    assert report(capsys, audit, "--format", "json", "--out", out, "--logo", logo)[0] == 0
    assert json.loads(out.read_text())["logo"].startswith("data:image/svg+xml;base64,")
    for content in (b"no picture", b"\x89PNG\r\n\x1a\nno more", b""):
        logo.write_bytes(content)
        before = kept(audit)
        refused(capsys, audit, "--out", tmp_path / "x.pdf", "--logo", logo)
        assert kept(audit) == before
    assert not (tmp_path / "x.pdf").exists()


def test_a_pdf_and_its_manifest_are_signed(audit, tmp_path, capsys):
    archive, certificate = make_key()
    (tmp_path / "key.p12").write_bytes(archive)
    (tmp_path / "word").write_text(f"{PASSPHRASE}\r\n")
    out = tmp_path / "r.pdf"
    signing_with = ("--sign", tmp_path / "key.p12", "--passphrase-file", tmp_path / "word")
    code, said, _ = report(capsys, audit, "--out", out, *signing_with)
    assert code == 0
    assert "Signed by Ada Auditor" in said
    (found,) = signing.check_pdf(out.read_bytes(), [certificate])
    assert found.holds
    beside = tmp_path / "r.pdf.manifest.json"
    assert json.loads(beside.read_text())["files"][0]["sha256"] == sha256(out)
    told = signing.check_file(
        beside.read_bytes(), Path(f"{beside}.p7s").read_bytes(), [certificate]
    )
    assert told.holds
    assert told.trusted
    page = tmp_path / "r.html"
    assert report(capsys, audit, "--format", "html", "--out", page, *signing_with)[0] == 0
    assert signing.check_file(page.read_bytes(), Path(f"{page}.p7s").read_bytes()).holds


def test_a_key_that_cannot_sign_writes_nothing(audit, tmp_path, capsys):
    (tmp_path / "key.p12").write_bytes(make_key()[0])
    out = tmp_path / "r.pdf"
    for arguments in (
        ("--sign", tmp_path / "key.p12"),
        ("--sign", tmp_path / "none.p12"),
        ("--sign", audit),
        ("--sign", tmp_path / "key.p12", "--passphrase-file", tmp_path / "none"),
    ):
        before = kept(audit)
        refused(capsys, audit, "--out", out, *arguments)
        assert not out.exists()
        assert kept(audit) == before


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a.fairdesk",),
        ("a.fairdesk", "--out", "r.pdf", "--template", "colorado"),
        ("a.fairdesk", "--out", "r.pdf", "--format", "docx"),
        ("a.fairdesk", "--out", "r.pdf", "--passphrase-file", "word"),
        ("a.fairdesk", "--out", "r.pdf", "--redact", "most"),
    ],
)
def test_a_wrong_command_line_is_told(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["report", *arguments])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("fairdesk report: ")


def edited(path, sql):
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


def test_an_audit_that_cannot_be_read_is_told(audit, tmp_path, capsys):
    out = tmp_path / "r.pdf"
    assert "missing.fairdesk" in refused(capsys, tmp_path / "missing.fairdesk", "--out", out)

    other = Path(shutil.copy(audit, tmp_path / "other.fairdesk"))
    edited(other, "PRAGMA user_version = 99")
    assert f"made by {phrases.OTHER_VERSION}" in refused(capsys, other, "--out", out)

    short = tmp_path / "short.fairdesk"
    short.write_bytes(audit.read_bytes()[: audit.stat().st_size // 2])
    assert "damaged" in refused(capsys, short, "--out", out)

    for number, sql in enumerate(
        (
            "UPDATE audit SET spec = '{}'",
            "UPDATE audit SET spec = replace(spec, '\"protected\"', '\"prot\"')",
            "UPDATE audit SET codes = x'00'",
            'UPDATE run SET figures = \'[{"type": "Nothing"}]\'',
            "UPDATE log SET at = 'yesterday'",
            "DROP TABLE finding",
        )
    ):
        changed = Path(shutil.copy(audit, tmp_path / f"changed-{number}.fairdesk"))
        edited(changed, sql)
        refused(capsys, changed, "--out", out)
    other = tmp_path / "text.fairdesk"
    other.write_text("no audit")
    refused(capsys, other, "--out", out)
    assert not out.exists()


def test_an_audit_that_cannot_be_written_to_is_reported_on(audit, tmp_path, capsys, monkeypatch):
    def read_only(path):
        raise StoreError(f"The audit file “{path}” {phrases.NOT_WRITABLE}.")

    monkeypatch.setattr(Store, "open", read_only)
    before = audit.read_bytes()
    out = tmp_path / "r.pdf"
    code, said, _ = report(capsys, audit, "--out", out)
    assert code == 0
    assert f"Nothing could be written to the audit log: The audit file “{audit}” cannot be" in said
    assert out.read_bytes().startswith(b"%PDF")
    assert (tmp_path / "r.pdf.manifest.json").is_file()
    assert audit.read_bytes() == before
    # but what has to be kept in it cannot be
    err = refused(capsys, audit, "--out", tmp_path / "x.pdf", "--details", details_file(tmp_path))
    assert phrases.NOT_WRITABLE in err
    assert not (tmp_path / "x.pdf").exists()


def test_a_report_that_cannot_be_written_changes_nothing(audit, tmp_path, capsys, monkeypatch):
    out = tmp_path / "r.pdf"
    out.write_bytes(b"an earlier one")
    before = kept(audit)
    said = refused(capsys, audit, "--out", tmp_path / "none" / "r.pdf")
    assert f"The folder {tmp_path / 'none'} does not exist." in said
    assert "is a folder" in refused(capsys, audit, "--out", tmp_path)
    assert "cannot replace its audit file" in refused(capsys, audit, "--out", audit)

    def full(_path, _content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "is full" in refused(capsys, audit, "--out", out)
    monkeypatch.undo()
    assert out.read_bytes() == b"an earlier one"
    assert kept(audit) == before
    assert {each.name for each in tmp_path.iterdir()} == {"audit.fairdesk", "r.pdf", "state"}


def test_what_the_window_writes_is_what_the_command_writes(audit, tmp_path, capsys):
    assert report(capsys, audit, "--out", tmp_path / "a.pdf")[0] == 0
    with Store.open(audit) as store:
        written = write_report(store, tmp_path / "b.pdf", "pdf")
    assert written.sha256 == sha256(tmp_path / "a.pdf")
    assert written.pages == len(PdfReader(io.BytesIO((tmp_path / "a.pdf").read_bytes())).pages)
    assert written.beside == (tmp_path / "b.pdf.manifest.json",)
    assert written.remarks == ()


def test_what_a_pdf_cannot_promise_is_said(audit, tmp_path, capsys):
    with Store.open(audit) as store:
        details = example_details("plain", system="Glagolitic \u2c00\u2c01 and Egyptian \U00013000")
        store.write_details(details)
    code, said, _ = report(capsys, audit, "--out", tmp_path / "r.pdf")
    assert code == 0
    assert "PDF/UA-1 and PDF/A-3a" in said

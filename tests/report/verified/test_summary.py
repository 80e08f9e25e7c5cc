"""Files that left an audit, checked again; and what came of a check, in every form."""

import shutil

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec, versions
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import Choice, Details
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import VerifyRequest
from fairdesk.audit.verify.record import ANCHOR, check_record
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import ReportError
from fairdesk.files import sha256
from fairdesk.report.document import write_report
from fairdesk.report.export.findings import write_findings_csv, write_findings_json
from fairdesk.report.provenance import signing
from fairdesk.report.verified import summary as verified
from fairdesk.report.verified.files import (
    ATTACHED,
    FILES,
    REMADE,
    SIGNATURES,
    anchor_of,
    check_files,
)
from tests import phrases
from tests.audit import audited
from tests.report import building
from tests.report.keys import PASSPHRASE, make_key
from tests.report.provenance.test_revisions import blank, rewritten


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make an audit with a report and two tables of findings, once; gives its folder."""
    folder = tmp_path_factory.mktemp("made") / "audit"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # so that the same programs make the report again
        patch.setattr(building, "VERSIONS", versions())
        store = building.people_store(folder)
    with store:
        building.run_into(store, options={"global_num": 20, "local_num": 20})
        written = {"findings.csv": folder / "findings.csv", "findings.json": folder / "f.json"}
        write_findings_csv(store, written["findings.csv"])
        write_findings_json(store, written["findings.json"])
        store.exported("Exported the findings.", written)
        write_report(store, folder / "report.pdf")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """Return a copy of it all; the originals are where they were written, too."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def checks(folder, *given, manifest=None, vouching=()):
    """Check files of a folder's audit; gives the checks by name."""
    audit = folder / "audit.fairdesk"
    with Store.read(audit) as store:
        return {each.name: each for each in check_files(store, audit, given, manifest, vouching)}


def failed(found):
    return {name for name, each in found.items() if each.failed}


def flip(file):
    """Change one byte in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_all_files_are_found_beside_the_audit(folder):
    found = checks(folder)
    assert failed(found) == set()
    # two tables, the report and its manifest
    assert found[FILES].tried == 4
    assert found[FILES].unknown == 0
    assert found[ATTACHED].tried > 10
    assert found[ATTACHED].unknown == 0
    assert found[REMADE].tried == 1
    assert found[REMADE].unknown == 0


def test_a_folder_that_was_moved_is_looked_at_and_not_where_it_was(folder, made):
    flip(folder / "findings.csv")
    assert failed(checks(folder)) == {FILES}
    assert failed(checks(made)) == set()


def test_a_report_that_was_written_again_elsewhere_under_the_same_name(folder, tmp_path):
    again = tmp_path / "elsewhere" / "report.pdf"
    again.parent.mkdir()
    with Store.open(folder / "audit.fairdesk") as store:
        store.mark(1, "flagged")
        write_report(store, again)
    found = checks(folder)
    assert failed(found) == set()
    # both reports and both manifests
    assert found[FILES].tried == 6
    for file in (again, folder / "report.pdf"):
        before = file.read_bytes()
        flip(file)
        assert FILES in failed(checks(folder))
        file.write_bytes(before)


@pytest.mark.parametrize("name", ["findings.csv", "f.json", "report.pdf.manifest.json"])
def test_one_byte_of_an_exported_file(folder, name):
    file = folder / name
    assert failed(checks(folder, file)) == set()
    flip(file)
    found = checks(folder, file)
    assert failed(found) == {FILES}
    # who names one file does not ask about others
    assert (found[FILES].tried, found[FILES].unknown) == (1, 0)
    assert name in " ".join(found[FILES].remarks)


def test_one_byte_of_the_report(folder):
    report = folder / "report.pdf"
    content = report.read_bytes()
    assert content.count(b"/Lang") > 0
    report.write_bytes(content.replace(b"/Lang", b"/Lamg", 1))
    assert failed(checks(folder, report)) == {FILES, REMADE}
    report.write_bytes(content[: len(content) // 2])
    assert FILES in failed(checks(folder, report))


def test_a_report_whose_audit_was_written_anew(folder):
    """The manifest in it tells: also where nobody kept one apart."""
    audit = folder / "audit.fairdesk"
    audited.change(audit, "UPDATE log SET what = 'What?' WHERE number = 2")
    audited.chained_anew(audit)
    found = checks(folder, folder / "report.pdf")
    assert ATTACHED in failed(found)
    assert "a different audit log" in " ".join(found[ATTACHED].remarks)


def test_an_audit_that_has_gone_on_makes_another_report_and_that_is_no_difference(folder):
    with Store.open(folder / "audit.fairdesk") as store:
        store.mark(1, "flagged")
    found = checks(folder, folder / "report.pdf")
    assert failed(found) == set()
    assert found[REMADE].unknown == 1
    assert "audit has changed since" in found[REMADE].remarks[0]


def test_a_report_that_another_version_made_is_not_made_again(folder):
    audited.change(
        folder / "audit.fairdesk",
        "UPDATE audit SET spec = replace(spec, ?, ?)",
        f'"FairDesk":"{versions()["FairDesk"]}"',
        '"FairDesk":"0.0.7"',
    )
    found = checks(folder, folder / "report.pdf")
    assert found[REMADE].unknown == 1
    assert "FairDesk 0.0.7 then" in found[REMADE].remarks[0]
    assert REMADE not in failed(found)


def test_a_file_that_was_never_exported(folder, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n")
    found = checks(folder, tmp_path / "mine.csv")
    assert failed(found) == {FILES}
    assert f"not {phrases.RECORDED_IN_AUDIT} log" in found[FILES].remarks[0]


def test_a_folder_of_files_some_of_which_are_gone(folder, tmp_path):
    (tmp_path / "files").mkdir()
    shutil.copy(folder / "findings.csv", tmp_path / "files" / "renamed.csv")
    (tmp_path / "files" / "notes.txt").write_text("Mine.")
    found = checks(folder, tmp_path / "files")
    assert failed(found) == set()
    assert (found[FILES].tried, found[FILES].unknown) == (4, 3)
    assert "“report.pdf” was exported, but is missing here." in found[FILES].remarks


def test_a_file_that_is_not_there(folder, tmp_path):
    with pytest.raises(ReportError, match="cannot be read"):
        checks(folder, tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["report.pdf.manifest.json", "report.pdf"])
def test_manifest_and_report_say_what_the_log_was(folder, name):
    anchor = anchor_of(folder / name)
    audit = folder / "audit.fairdesk"

    def differing():
        with Store.read(audit) as store:
            return {each.name for each in check_record(store, anchor) if each.failed}

    assert ANCHOR not in differing()
    audited.change(audit, "UPDATE log SET what = 'What?' WHERE number = 2")
    audited.chained_anew(audit)
    assert ANCHOR in differing()


def test_what_is_no_manifest(folder):
    for name in ("findings.csv", "f.json"):
        with pytest.raises(ReportError, match="not a manifest"):
            anchor_of(folder / name)


def test_an_export_that_was_written_anew_into_the_log_is_told_by_the_manifest(folder):
    """The manifest does not know of its own export, which comes later, but of its files."""
    report, manifest = folder / "report.pdf", folder / "report.pdf.manifest.json"
    before = msgspec.json.decode(manifest.read_bytes())["files"][0]["sha256"]
    flip(report)
    audit = folder / "audit.fairdesk"
    sql = "UPDATE log SET facts = replace(facts, ?, ?)"
    audited.change(audit, sql, before, sha256(report))
    audited.chained_anew(audit)
    assert FILES not in failed(checks(folder, report))
    found = checks(folder, report, manifest=manifest)
    assert FILES in failed(found)
    assert "and the audit log does not" in found[FILES].remarks[0]


def test_a_signed_report(folder):
    report = folder / "report.pdf"
    archive, _ = make_key()
    signed = signing.open_key(archive, PASSPHRASE).sign_pdf(report.read_bytes(), "Because.")
    report.write_bytes(signed)
    found = checks(folder, report)
    assert failed(found) == set()
    assert found[SIGNATURES].tried == 1
    assert "Ada Auditor" in " ".join(found[SIGNATURES].remarks)
    assert "was signed since" in " ".join(found[FILES].remarks)
    report.write_bytes(signed.replace(b"/Lang", b"/Lamg", 1))
    assert failed(checks(folder, report)) == {FILES, SIGNATURES, REMADE}


def test_whoever_signed_goes_back_to_whom_the_reader_trusts(folder, tmp_path):
    report, own, other = folder / "report.pdf", tmp_path / "own.pem", tmp_path / "other.pem"
    archive, certificate = make_key()
    report.write_bytes(signing.open_key(archive, PASSPHRASE).sign_pdf(report.read_bytes(), "Mine."))
    own.write_bytes(certificate)
    other.write_bytes(make_key("Eve")[1])
    vouched = checks(folder, report, vouching=[own])
    assert failed(vouched) == set()
    assert "ends in a certificate that is trusted here" in " ".join(vouched[SIGNATURES].remarks)
    assert failed(checks(folder, report, vouching=[other])) == {SIGNATURES}
    with pytest.raises(ReportError, match="no-such"):
        checks(folder, report, vouching=[tmp_path / "no-such.pem"])


def told_otherwise(manifest, member):
    """Change one thing that a manifest tells, whatever it is."""
    match manifest[member]:
        case str(text):
            manifest[member] = f"{text} "
        case list(items):
            manifest[member] = items[1:] if items else [{"path": "x", "sha256": "0" * 64}]
        case {"sha256": _} as file:
            file["sha256"] = "0" * 64
        case dict(about):
            name = "title" if "title" in about else next(iter(about), "x")
            about[name] = "Other."


@pytest.mark.parametrize("redaction", ["none", "synthetic", "bands"])
@pytest.mark.parametrize("template", ["plain", "model-card"])
def test_a_manifest_of_before_agrees_also_when_the_audit_went_on(folder, template, redaction):
    audit, page = folder / "audit.fairdesk", folder / "page.html"
    with Store.open(audit) as store:
        write_report(store, page, "html", Choice(template, redaction=redaction))
    given = (page, page.with_name("page.html.manifest.json"))
    with Store.open(audit) as store:
        store.note(2, "Later.")
        store.write_details(Details({"auditor": "Bo"}))
        store.begin_run(RunSpec("uniform"))
    for each in given:
        found = checks(folder, page, manifest=each)
        assert failed(found) == set()
        assert (found[ATTACHED].tried > 20, found[ATTACHED].unknown) == (True, 0)


@pytest.mark.parametrize(
    "member",
    [
        *("title", "moment", "data", "model", "companions", "question_sha256", "table_sha256"),
        *("spec", "runs", "commands", "domain_file", "map_file", "versions", "details"),
    ],
)
def test_whatever_a_manifest_tells_otherwise_is_caught(folder, member):
    manifest = msgspec.json.decode((folder / "report.pdf.manifest.json").read_bytes())
    told_otherwise(manifest, member)
    given = folder / "given.json"
    given.write_bytes(msgspec.json.encode(manifest))
    assert failed(checks(folder, folder / "findings.csv", manifest=given)) == {ATTACHED}


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["runs"][0].update(found=1),
        lambda told: told["runs"][0]["sha256"].update(findings="0" * 64),
        lambda told: told["runs"].append(told["runs"][0] | {"id": 9}),
        lambda told: told["log"].update(lasting=[]),
        lambda told: told["log"]["lasting"][1].update(what="Nothing."),
        lambda told: told["log"].update(entries=0, head=digests.GENESIS),
        lambda told: told["log"].update(entries=-1),
        lambda told: told.update(audit="FD-0000-0000-0000"),
    ],
)
def test_a_manifest_tells_of_other_runs_or_another_log(folder, change):
    manifest = msgspec.json.decode((folder / "report.pdf.manifest.json").read_bytes())
    change(manifest)
    given = folder / "given.json"
    given.write_bytes(msgspec.json.encode(manifest))
    assert failed(checks(folder, folder / "findings.csv", manifest=given)) == {ATTACHED}


def test_no_manifest_tells_of_a_log_without_entries(folder):
    anchor = msgspec.structs.replace(
        anchor_of(folder / "report.pdf"), entries=0, head=digests.GENESIS
    )
    with Store.read(folder / "audit.fairdesk") as store:
        assert {each.name for each in check_record(store, anchor) if each.failed} == {ANCHOR}


def test_the_manifest_of_another_audit_is_told_as_that(folder, tmp_path):
    (tmp_path / "other").mkdir()
    with building.people_store(tmp_path / "other", title="Another one") as store:
        write_report(store, tmp_path / "other.json", "json")
    asked = VerifyRequest(folder / "audit.fairdesk")
    told = verified.verify(None, asked, (), tmp_path / "other.json", lambda _said: None)
    (found,) = (each for each in told.checks if each.failed)
    assert found.name == ATTACHED
    assert "belongs to the audit FD-" in found.remarks[0]
    assert ANCHOR not in {each.name for each in told.checks}


def test_a_report_of_an_audit_that_could_not_be_written_to(folder, tmp_path):
    """Nothing of it is in the log: its manifest tells."""
    report = tmp_path / "given" / "alone.pdf"
    report.parent.mkdir()
    with Store.read(folder / "audit.fairdesk") as store:
        choice = Choice(paper="us-letter")
        write_report(store, report, "pdf", choice, unlogged="The disk is read-only.")
    given = report.with_name("alone.pdf.manifest.json")
    found = checks(folder, report, manifest=given)
    assert failed(found) == set()
    assert (found[REMADE].tried, found[REMADE].unknown) == (1, 0)
    with Store.open(folder / "audit.fairdesk") as store:
        store.mark(1, "flagged")
    found = checks(folder, report, manifest=given)
    assert failed(found) == set()
    assert "audit has changed since" in found[REMADE].remarks[0]


@pytest.mark.parametrize("form", ["html", "json"])
def test_pages_and_json_are_made_again_too(folder, form):
    """So one that was changed is caught where its export was logged anew, too."""
    report = folder / f"page.{form}"
    audit = folder / "audit.fairdesk"
    with Store.open(audit) as store:
        write_report(store, report, form, Choice("model-card"))
    found = checks(folder, report)
    assert failed(found) == set()
    assert (found[REMADE].tried, found[REMADE].unknown) == (1, 0)
    assert found[ATTACHED].tried > 10
    report.write_bytes(report.read_bytes().replace(b"Who gets", b"Who got", 1))
    assert failed(checks(folder, report)) == {FILES, REMADE}
    with Store.open(audit) as store:
        store.exported("Exported it.", {report.name: report})
    assert failed(checks(folder, report)) == {REMADE}
    manifest = report.with_name(report.name + ".manifest.json")
    found = checks(folder, report, manifest=manifest)
    assert failed(found) == {FILES, REMADE}
    assert "not the one that the manifest lists" in found[FILES].remarks[0]


def test_what_was_added_to_a_report_and_is_no_signature(folder):
    """Also where somebody signed it then: that signature holds, of a page that shows less."""
    report = folder / "report.pdf"
    before = report.read_bytes()
    key = signing.open_key(make_key()[0], PASSPHRASE)
    for signed in (False, True):
        content = rewritten(before, blank)
        report.write_bytes(key.sign_pdf(content, "Mine.") if signed else content)
        found = checks(folder, report)
        assert failed(found) == {FILES, REMADE}
        assert "more was added to it than valid, invisible signatures" in " ".join(
            found[FILES].remarks
        )
    report.write_bytes(before + b"\n% hello")
    assert failed(checks(folder, report)) == {FILES, REMADE}
    report.write_bytes(rewritten(key.sign_pdf(before, "Mine."), blank))
    assert failed(checks(folder, report)) == {FILES, REMADE, SIGNATURES}


def test_a_report_that_two_people_signed(folder):
    report = folder / "report.pdf"
    for name in ("Ada", "Bo"):
        key = signing.open_key(make_key(name)[0], PASSPHRASE)
        report.write_bytes(key.sign_pdf(report.read_bytes(), "Seen."))
    found = checks(folder, report)
    assert failed(found) == set()
    assert found[SIGNATURES].tried == 2
    assert found[REMADE].unknown == 0


def test_a_damaged_attachment_is_told(folder):
    """What is packed can be damaged in ways that nothing but unpacking it shows."""
    report = folder / "report.pdf"
    content = report.read_bytes()
    place = content.index(b"/EmbeddedFile")
    place = content.index(b"stream", place) + 40
    report.write_bytes(content[:place] + bytes(40) + content[place + 40 :])
    assert FILES in failed(checks(folder, report))
    with pytest.raises(ReportError, match="manifest"):
        anchor_of(report)


def test_a_signed_manifest(folder):
    manifest = folder / "report.pdf.manifest.json"
    archive, _ = make_key()
    beside = manifest.with_name(manifest.name + signing.SUFFIX)
    beside.write_bytes(signing.open_key(archive, PASSPHRASE).sign_file(manifest.read_bytes()))
    csv = folder / "findings.csv"
    found = checks(folder, csv, manifest=manifest)
    assert found[SIGNATURES].tried == 1
    assert failed(found) == set()
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    assert failed(checks(folder, csv, manifest=manifest)) == {SIGNATURES}


# what came of it


@pytest.fixture
def told(made):
    found = (
        Check("What agrees", 1_200),
        Check("What differs", 10, 2, 0, ("Pair 7 <b>is</b> otherwise.", "And 1 more.")),
        Check("What was left", 0, 0, 1, (f"The model was not given: {phrases.NAME_THE_MODEL}.",)),
        Check("What is there in part", 5, 0, 2, ("Too near.",)),
    )
    here = versions()
    return verified.VerificationReport(
        what="verified",
        title="Who gets =cmd() credit?",
        audit="FD-0000-1111-2222",
        file="audit.fairdesk",
        at="2026-11-22T04:00:00+00:00",
        checks=found,
        then=here | {"numpy": "0.1", "gone": "1"},
        now=here,
    )


PARTLY = "“What is there in part”"


def test_the_summary_says_how_much_could_not_be_checked(told):
    assert verified.summary(told) == (
        f"{phrases.DOES_NOT_MATCH}“What differs”. Mismatch in 2 of 1,213 comparisons, in 1 of 4 "
        f"checks. 2 {phrases.CHECKS_LEFT}"
    )
    fine = msgspec.structs.replace(told, checks=told.checks[:1])
    assert verified.summary(fine) == (
        f"Verified. {phrases.NOTHING_DIFFERS} 1,200 comparisons. All checks were made."
    )
    assert (told.holds, fine.holds) == (False, True)


def test_the_summary_says_what_nothing_of_before_leaves_open(told):
    alone = msgspec.structs.replace(told, checks=told.checks[:1], complete=False)
    assert verified.summary(alone).endswith(verified.COMPLETENESS)
    assert verified.figures(alone)["complete"] is False
    assert verified.COMPLETENESS not in verified.summary(told)


@pytest.mark.parametrize(
    ("what", "places", "said"),
    [
        ("verified", (0,), "Verified. "),
        ("verified", (0, 2), f"{phrases.VERIFIED_IN_PART}“What was left” not checked. "),
        (
            "verified",
            (0, 2, 3),
            f"{phrases.VERIFIED_IN_PART}“What was left” not checked; {PARTLY} partly checked. ",
        ),
        ("verified", (1, 3), f"{phrases.DOES_NOT_MATCH}“What differs”. "),
        ("reproduced", (0,), "Reproduced. "),
        ("reproduced", (0, 2), "Reproduced in part: 1 result not compared. "),
        ("reproduced", (0, 3), "Reproduced in part: 2 results not compared. "),
        ("reproduced", (0, 1, 2), f"{phrases.DOES_NOT_MATCH}“What differs”. "),
    ],
)
def test_the_verdict_comes_first_in_every_form(told, what, places, said):
    checked = tuple(told.checks[place] for place in places)
    report = msgspec.structs.replace(told, what=what, checks=checked)
    assert verified.text(report).startswith(said)
    assert verified.figures(report)["verdict"] == said.strip()
    section, *_ = verified.report(report).sections
    assert section.blocks[0].text.startswith(said)


def test_a_verdict_names_the_first_of_many_checks(told):
    many = tuple(Check(f"Check {number}", 1, 1) for number in range(6))
    report = msgspec.structs.replace(told, checks=many)
    assert verified.verdict(report).endswith("“Check 3” and 2 more.")


@pytest.mark.parametrize("given", ["manifest", "signature", "other signature", "nothing"])
def test_what_shows_that_nothing_was_removed(folder, tmp_path, given):
    """A manifest, or a report signed by somebody whom the reader trusts."""
    report, trusted = folder / "report.pdf", tmp_path / "own.pem"
    archive, certificate = make_key()
    trusted.write_bytes(certificate)
    if "signature" in given:
        key = signing.open_key(archive, PASSPHRASE)
        report.write_bytes(key.sign_pdf(report.read_bytes(), "Mine."))
    found = verified.verify(
        None,
        VerifyRequest(folder / "audit.fairdesk"),
        (report,),
        folder / "report.pdf.manifest.json" if given == "manifest" else None,
        lambda _said: None,
        [trusted] if given == "signature" else (),
    )
    assert found.holds
    assert found.complete is (given in ("manifest", "signature"))


def test_it_is_told_in_lines(told):
    lines = verified.text(told).splitlines()
    assert lines[0].startswith(phrases.DOES_NOT_MATCH)
    assert lines[1] == "Verification of “Who gets =cmd() credit?” (FD-0000-1111-2222)."
    assert "agrees          What agrees: 1,200 compared." in lines
    assert "MISMATCH        What differs: 10 compared, 2 mismatched." in lines
    assert "not checked     What was left." in lines
    assert "partly checked  What is there in part: 3 compared, 2 not checked." in lines
    assert any("numpy: 0.1, now" in line for line in lines)
    assert not any("gone" in line for line in lines)


@pytest.mark.parametrize("ending", ["json", "txt", "html", "pdf"])
def test_it_is_written_in_every_form(told, tmp_path, ending):
    out = tmp_path / f"checked.{ending}"
    verified.write(told, out)
    content = out.read_bytes()
    if ending == "pdf":
        assert content.startswith(b"%PDF")
        verified.write(told, out)
        assert out.read_bytes() == content
        return
    text = content.decode()
    assert "Mismatch in 2 of 1,213 comparisons" in text
    assert "What is there in part" in text
    assert ("<b>is</b>" in text) is (ending != "html")


def test_another_ending_is_refused(told, tmp_path):
    with pytest.raises(ReportError, match="cannot be written"):
        verified.write(told, tmp_path / "checked.doc")


def test_programs_get_the_same(told):
    figures = verified.figures(told)
    assert figures["holds"] is False
    assert figures["differences"] == 2
    assert figures["compared"] == 1_213
    assert figures["not_checked"] == ["What was left", "What is there in part"]

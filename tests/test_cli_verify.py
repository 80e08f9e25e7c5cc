"""``fairdesk verify`` of a whole audit, and ``fairdesk reproduce``: from the files to the code."""

import io
import json
import re
import shutil
import signal
import sqlite3
import sys
from contextlib import closing, nullcontext

import joblib
import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import read_limits
from fairdesk.audit.store import digests
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import ESTIMATES
from fairdesk.audit.verify.files import SAME_MODEL
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.certify.proof.certificate import CONSISTENT, DISCRIMINATORY, leaves
from fairdesk.cli import main as cli
from fairdesk.cli import terminal
from fairdesk.cli import verify as cli_verify
from fairdesk.cli.terminal import PARTLY
from fairdesk.report.verified.files import ATTACHED, FILES, REMADE
from tests import phrases
from tests.audit import audited, fake_guest, making
from tests.certify.proof.test_reproof_check import AGAIN, FALSIFIED
from tests.certify.proof.test_verify import changed, summed


class Kept(Worker):
    """A worker that one command after the other works with: nothing is loaded twice."""

    def close(self):
        """Stay."""


@pytest.fixture(scope="module")
def guest():
    worker = Kept(command=(sys.executable, fake_guest.__file__))
    yield lambda: worker
    Worker.close(worker)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, guest):
    """Keep the log out of the user's home, and load no library of models."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(terminal, "Worker", guest)


@pytest.fixture(scope="module")
def made(tmp_path_factory, guest):
    """Make an audit and its files with the command, once; gives its folder."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(terminal, "Worker", guest)
        named = {
            "data": making.write_people(folder / "people.csv"),
            "model": fake_guest.write_source(folder / "model.txt"),
            "label": "hired",
            "favourable": "yes",
            "protected": "sex",
            "out": folder / "out",
        }
        words = [part for name, value in named.items() for part in (f"--{name}", str(value))]
        quick = ("--option", "global_num=20", "local_num=20")
        assert cli.main(["audit", *words, "--method", "maft", "--method", "groups", *quick]) == 0
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """Return a copy of it all; the originals are found where they were written, too."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def verify(capsys):
    """Verify the audit of a folder; gives the exit code and what was told, as JSON."""

    def run(folder, *more, model=True):
        given = ["--data", folder / "people.csv"]
        given += ["--model", folder / "model.txt"] if model else []
        words = ["verify", folder / "out" / "audit.fairdesk", *given, "--json", *more]
        code = cli.main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert err == ""
        return code, json.loads(out)

    return run


def differing(told):
    return {each["name"] for each in told["checks"] if each["failed"]}


def test_an_audit_is_checked_again_with_all_its_files(verify, copy):
    before = (copy / "out" / "audit.fairdesk").read_bytes()
    code, told = verify(copy)
    # what searches drew at random is repeated by “reproduce” only
    assert (code, told["not_checked"][-1]) == (PARTLY, ESTIMATES)
    assert told["holds"] is True
    assert told["complete"] is False
    assert differing(told) == set()
    assert told["compared"] > 300
    tried = {each["name"]: each["tried"] for each in told["checks"]}
    assert tried[FILES] == 5
    assert tried[ATTACHED] > 10
    assert tried[REMADE] == 1
    assert (copy / "out" / "audit.fairdesk").read_bytes() == before


def test_what_came_of_it_in_words(copy, capsys):
    audit = str(copy / "out" / "audit.fairdesk")
    assert cli.main(["verify", audit, "--file", str(copy / "out" / "findings.csv")]) == PARTLY
    out, _ = capsys.readouterr()
    assert out.startswith(phrases.VERIFIED_IN_PART)
    assert phrases.NOTHING_DIFFERS in out
    assert phrases.CHECKS_LEFT in out
    assert re.search(f"not checked +{re.escape(SAME_MODEL)}", out)
    assert phrases.NAME_THE_MODEL in out


def test_another_ending_is_refused_before_any_work(copy, tmp_path, capsys):
    audit = copy / "out" / "audit.fairdesk"
    assert cli.main(["verify", str(audit), "--out", str(tmp_path / "x.doc")]) == 1
    assert ".json, .html, .pdf, .txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--table", "x"], "--table"),
        (["--sample", "5", "--all"], "not allowed with"),
        (["--sample", "-1"], phrases.NO_WHOLE_NUMBER),
    ],
)
def test_wrong_arguments_of_an_audit(copy, capsys, more, said):
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(copy / "out" / "audit.fairdesk"), *more])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_what_only_an_audit_takes_is_refused_of_a_certificate(tmp_path, capsys):
    proof = tmp_path / "a.fairdesk-proof"
    proof.write_bytes(b"PK")
    for more in (["--manifest", "m"], ["--file", "f"], ["--out", "o.txt"], []):
        with pytest.raises(SystemExit) as ended:
            cli.main(["verify", str(proof), *more])
        assert ended.value.code == 2
    assert "--model" in capsys.readouterr().err


def test_what_is_no_audit_at_all(tmp_path, capsys):
    (tmp_path / "a.fairdesk").write_bytes(b"SQLite format 3\0" + bytes(200))
    assert cli.main(["verify", str(tmp_path / "a.fairdesk")]) == 1
    assert "damaged" in capsys.readouterr().err
    assert cli.main(["verify", str(tmp_path / "none.fairdesk")]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_it(copy, monkeypatch, capsys, number):
    def press(sentence):
        if sentence == "Comparing the data":
            signal.raise_signal(number)

    monkeypatch.setattr(cli_verify, "spinner", lambda: nullcontext(press))
    audit = copy / "out" / "audit.fairdesk"
    assert cli.main(["verify", str(audit)]) == 130
    assert capsys.readouterr().out == ""


def test_an_audit_is_run_again(copy, tmp_path, capsys):
    words = [
        *("reproduce", copy / "out" / "audit.fairdesk"),
        *("--data", copy / "people.csv", "--model", copy / "model.txt"),
        *("--out", tmp_path / "again", "--json"),
    ]
    assert cli.main([str(word) for word in words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is True
    assert told["verdict"] == "Reproduced."
    assert (tmp_path / "again" / "audit.fairdesk").is_file()
    audited.change(copy / "out" / "audit.fairdesk", "UPDATE run SET state = 'failed' WHERE id = 2")
    assert cli.main([str(word) for word in words[:-3]]) == 5
    assert capsys.readouterr().out.startswith("Reproduced in part: 1 result not compared.")
    audited.change(
        copy / "out" / "audit.fairdesk", "UPDATE finding SET row_score = 0.1 WHERE id = 4"
    )
    assert cli.main([str(word) for word in words[:-3]]) == 1
    assert f"Run 1 “{METHODS['maft'].title}”: {phrases.SAME_FINDINGS}" in capsys.readouterr().out


def test_inspect_lists_what_never_occurs_as_constraints(tmp_path, capsys):
    data = making.write_people(tmp_path / "people.csv", rows=300)
    head, *lines = data.read_text().splitlines()
    # no woman has a high income
    kept = [each for each in lines if not ("female" in each and int(each.split(",")[2]) > 6)]
    data.write_text("\n".join((head, *kept)) + "\n")
    fake_guest.write_source(tmp_path / "model.txt")
    words = ["--data", data, "--model", tmp_path / "model.txt", "--label", "hired"]
    words = [*map(str, words), "--favourable", "yes"]
    assert cli.main(["inspect", *words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["absent_combinations"]
    assert found["constraint"] == "not (sex = female and income >= 7)"
    assert found["rows"] == len(kept)
    limits = tmp_path / "domain.json"
    limits.write_text(json.dumps({"constraints": [found["constraint"]]}))
    assert read_limits(limits).constraints == (found["constraint"],)
    assert cli.main(["inspect", *words]) == 0
    assert f"sex = female and income >= 7: 0 of {len(kept)} rows" in capsys.readouterr().out


def test_decided_cells_are_followed_by_audit_verify_and_reproduce(tmp_path, verify, capsys):
    data = making.write_people(tmp_path / "people.csv", rows=200)
    head, *lines = data.read_text().splitlines()
    ages = [line.split(",")[0] for line in lines]
    for row, text in ((5, f"${ages[5]}"), (9, "O"), (30, "unknown")):
        lines[row] = ",".join((text, *lines[row].split(",")[1:]))
    data.write_text("\n".join((head, *lines)) + "\n")
    fake_guest.write_source(tmp_path / "model.txt")
    words = ["--data", data, "--model", tmp_path / "model.txt", "--label", "hired"]
    words = [*map(str, words), "--favourable", "yes"]
    told = ("--odd-cells", "age=mended", "--mend", "age:O=33", "--mend-encoding")
    out = ("--protected", "sex", "--out", str(tmp_path / "out"), "--method", "groups")
    assert cli.main(["inspect", *words, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["data"]
    assert [(each["text"], each["lines"]) for each in listed["odd_cells"]["age"]] == [
        (f"${ages[5]}", [7]),
        ("O", [11]),
        ("unknown", [32]),
    ]
    assert listed["decided"] == {"columns": {}, "encoding_mended": False}
    assert cli.main(["audit", *words, *out, "-v"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"They {phrases.COUNT_AS_MISSING} until you decide." in said
    assert cli.main(["audit", *words, *out, *told, "-v"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "You chose: 2 cells converted, 1 cell missing." in said
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        codes = store.table().codes[:, 0]
        assert [codes[5], codes[9]] == [float(ages[5]), 33]
        said = [entry.what for entry in store.log_entries()]
    assert f"Cells of “age” were converted: “${ages[5]}” to {ages[5]}, “O” to 33." in said
    code, found = verify(tmp_path)
    assert code in (0, PARTLY), found
    again = ["reproduce", tmp_path / "out" / "audit.fairdesk", "--out", tmp_path / "again"]
    again += ["--data", data, "--model", tmp_path / "model.txt", "--trust-model"]
    assert cli.main([str(word) for word in again]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--odd-cells", "age=zero"), "does not state how to treat odd cells"),
        (("--odd-cells", "shoe=missing"), "no column “shoe”"),
        (("--mend", "age=5"), "does not state the meaning of a cell"),
        (("--mend", "age:Q=5"), f"{phrases.NO_ODD_CELL} of the column “age”"),
        (("--numeric", "age=1,234"), "does not show a number format"),
        (("--numeric", "sex"), phrases.NO_NUMBERS),
        (("--numeric", "age", "--categorical", "age"), "can be only one of"),
        (("--numeric", "age", "--text", "age"), "Omit all but one of them.\n"),
    ],
)
def test_what_cannot_be_decided_of_cells_is_told(tmp_path, capsys, words, said):
    data = making.write_people(tmp_path / "people.csv")
    model = fake_guest.write_source(tmp_path / "model.txt")
    given = ("--data", data, "--model", model, "--label", "hired", "--favourable", "yes")
    assert cli.main(["inspect", *map(str, given), *words]) == 1
    assert said in capsys.readouterr().err


@pytest.fixture(scope="module")
def proven(tmp_path_factory, shared_guests):
    """Prove something of a small network with the command; gives its folder."""
    folder = tmp_path_factory.mktemp("proven")
    rng = np.random.default_rng(4)
    rows = np.column_stack([*(rng.integers(0, 31, 400) for _ in range(3)), np.arange(400) % 2])
    rows[0], rows[1] = 0, 30
    rows[:4, 3] = 0, 1, 0, 1
    label = (rows @ [1, -1, 1, 9] + rng.normal(0, 5, 400) > 28).astype(int)
    lines = [",".join(map(str, each)) for each in np.column_stack((rows, label)).tolist()]
    (folder / "people.csv").write_text("\n".join(["debts,years,wage,sex,hired", *lines]) + "\n")
    frame = pd.DataFrame(rows, columns=["debts", "years", "wage", "sex"])
    network = MLPClassifier((4,), max_iter=60, random_state=0, learning_rate_init=0.05)
    joblib.dump(make_pipeline(StandardScaler(), network).fit(frame, label), folder / "model.joblib")
    given = ("--data", folder / "people.csv", "--model", folder / "model.joblib", "--trust-model")
    question = ("--label", "hired", "--favourable", "1", "--protected", "sex")
    # each constraint divides the domain: boxes are certified although all can soon be counted
    limits = [f"not (debts = {k} and years = {k})" for k in (6, 12, 18, 24)]
    limits += [f"not (debts = {k} and wage = {30 - k})" for k in (6, 12, 18, 24)]
    (folder / "domain.json").write_text(json.dumps({"constraints": limits}))
    how = ("--domain", folder / "domain.json", "--method", "certify")
    how += ("--option", "seconds=2", "--out", folder / "out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        assert cli.main([str(word) for word in ("audit", *given, *question, *how)]) == 0
    return folder


def forge(proof):
    """Say the opposite of the smallest certified box, with totals to match."""
    header, arrays = certificate_reading.unpack(proof)
    sizes = {
        int(node): int(np.prod(high - low + 1))
        for part in leaves(arrays)
        for node, low, high in zip(part.nodes, part.low, part.high, strict=True)
        if arrays["verdict"][node] == CONSISTENT
    }
    assert len(sizes) > 5
    forged = changed(arrays, "verdict", min(sizes, key=sizes.__getitem__), DISCRIMINATORY)
    header = summed(certificate.decoded(header), forged)
    file = io.BytesIO()
    certificate.write(file, certificate.encoded(header), forged)
    return header, file.getvalue()


def forge_audit(path):
    """Put a forged certificate into an audit: its figures, its fingerprints and the log too."""
    with closing(sqlite3.connect(path)) as connection, connection:
        ((file, figures),) = connection.execute(
            "SELECT file, figures FROM certificate JOIN run ON run = id"
        ).fetchall()
        header, forged = forge(io.BytesIO(file))
        told = json.loads(figures)
        for each in told:
            if each["type"] == "Proven" and each["of"] == "domain":
                each["certified"], each["falsified"] = (
                    header.certified_share,
                    header.falsified_share,
                )
                each["certified_people"], each["falsified_people"] = (
                    header.certified,
                    header.falsified,
                )
        connection.execute("UPDATE certificate SET file = ?", (forged,))
        connection.execute("UPDATE run SET figures = ?", (json.dumps(told),))
        ended = msgspec.json.encode(digests.run(connection, 1)).decode()
        rewritten = 'UPDATE log SET facts = ? WHERE facts LIKE \'%"step":"ended"%\''
        assert connection.execute(rewritten, (ended,)).rowcount == 1
    audited.chained_anew(path)


def test_a_forged_box_is_found_though_the_log_was_written_anew(
    proven, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(terminal, "Worker", Worker)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    audit, proof = tmp_path / "audit.fairdesk", tmp_path / "c.fairdesk-proof"
    for honest in (True, False):
        shutil.copy(proven / "out" / "audit.fairdesk", audit)
        shutil.copy(proven / "out" / "certificate.fairdesk-proof", proof)
        if not honest:
            forge_audit(audit)
            proof.write_bytes(forge(io.BytesIO(proof.read_bytes()))[1])
        for file in (audit, proof):
            given = ("--data", proven / "people.csv", "--model", proven / "model.joblib")
            words = ("verify", file, *given, "--trust-model", "--all", "--seconds", 0, "--json")
            words += ("--file", elsewhere) if file == audit else ()
            code = cli.main([str(word) for word in words])
            out, err = capsys.readouterr()
            assert not err
            told = json.loads(out)
            names = {each.removeprefix("Run 1: ") for each in differing(told)}
            assert code in ((0, PARTLY) if honest else (1,)), differing(told)
            assert told["holds"] is honest
            assert honest or AGAIN in names
            # neither the log nor what is told of the certificate tells anything
            assert names <= {
                AGAIN,
                FALSIFIED,
                phrases.PEOPLE_IN_FALSIFIED,
                phrases.MASSES_FOLLOW,
            }
            (again,) = (each for each in told["checks"] if each["name"].endswith(AGAIN))
            assert (again["failed"], again["unknown"]) == (int(not honest), 0)

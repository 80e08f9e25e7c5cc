"""``fairdesk verify`` of a whole audit, and ``fairdesk reproduce``: from the files to the code."""

import json
import shutil
import signal
import sys
from contextlib import nullcontext

import pytest

from fairdesk import cli, commands
from fairdesk.audit.store import Store
from fairdesk.audit.worker import Worker
from fairdesk.report.verified_files import ATTACHED, FILES, REMADE
from tests.audit import audited, fake_guest, making


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
    monkeypatch.setattr(commands, "Worker", guest)


@pytest.fixture(scope="module")
def made(tmp_path_factory, guest):
    """Make an audit and its files with the command, once; gives its folder."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(commands, "Worker", guest)
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
    """Give a copy of it all; the originals are found where they were written, too."""
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
    assert code == 0
    assert told["holds"] is True
    assert differing(told) == set()
    assert told["compared"] > 300
    tried = {each["name"]: each["tried"] for each in told["checks"]}
    assert tried[FILES] == 6
    assert tried[ATTACHED] > 10
    assert tried[REMADE] == 1
    assert (copy / "out" / "audit.fairdesk").read_bytes() == before


def test_what_came_of_it_in_words(copy, capsys):
    audit = str(copy / "out" / "audit.fairdesk")
    assert cli.main(["verify", audit, "--file", str(copy / "out" / "findings.csv")]) == 0
    out, _ = capsys.readouterr()
    assert "Nothing differs, in" in out
    assert "of the checks could not be made, or only in part." in out
    assert "not checked  The model’s file is the audited one" in out
    assert "name it with --model" in out


def test_another_ending_is_refused_before_any_work(copy, tmp_path, capsys):
    audit = copy / "out" / "audit.fairdesk"
    assert cli.main(["verify", str(audit), "--out", str(tmp_path / "x.doc")]) == 1
    assert ".json, .html, .pdf, .txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--table", "x"], "--table"),
        (["--sample", "5", "--all"], "not allowed with"),
        (["--sample", "-1"], "no whole number"),
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

    monkeypatch.setattr(commands, "_spinner", lambda: nullcontext(press))
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
    assert (tmp_path / "again" / "audit.fairdesk").is_file()
    audited.change(
        copy / "out" / "audit.fairdesk", "UPDATE finding SET row_score = 0.1 WHERE id = 4"
    )
    assert cli.main([str(word) for word in words[:-3]]) == 1
    assert "Run 1 (MAFT): the same findings in the same order" in capsys.readouterr().out


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
    assert cli.main(["audit", *words, *out]) == 0
    assert "They count as missing until you decide." in capsys.readouterr().out
    assert cli.main(["audit", *words, *out, *told]) == 0
    assert "You decided: 2 cells mended, 1 cell missing." in capsys.readouterr().out
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        codes = store.table().codes[:, 0]
        assert [codes[5], codes[9]] == [float(ages[5]), 33]
        said = [entry.what for entry in store.log_entries()]
    assert f"Cells of “age” were mended: “${ages[5]}” to {ages[5]}, “O” to 33." in said
    code, found = verify(tmp_path)
    assert code == 0, found
    again = ["reproduce", tmp_path / "out" / "audit.fairdesk", "--out", tmp_path / "again"]
    again += ["--data", data, "--model", tmp_path / "model.txt", "--trust-model"]
    assert cli.main([str(word) for word in again]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--odd-cells", "age=zero"), "does not say what is done with odd cells"),
        (("--odd-cells", "shoe=missing"), "no column “shoe”"),
        (("--mend", "age=5"), "does not say what a cell is"),
        (("--mend", "age:Q=5"), "No odd cell of the column “age”"),
        (("--numeric", "age=1,234"), "does not show how numbers are written"),
        (("--numeric", "sex"), "cannot be read as numbers"),
        (("--numeric", "age", "--categorical", "age"), "cannot be numeric and categorical"),
    ],
)
def test_what_cannot_be_decided_of_cells_is_told(tmp_path, capsys, words, said):
    data = making.write_people(tmp_path / "people.csv")
    model = fake_guest.write_source(tmp_path / "model.txt")
    given = ("--data", data, "--model", model, "--label", "hired", "--favourable", "yes")
    assert cli.main(["inspect", *map(str, given), *words]) == 1
    assert said in capsys.readouterr().err

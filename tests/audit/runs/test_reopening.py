"""The audited model, opened again: where it is now, and with whose consent."""

import msgspec
import pytest

from fairdesk.audit.runs.inspection import reopen
from fairdesk.files import sha256
from fairdesk.models.model import Companion


class Opener:
    """Remembers what it was asked to open."""

    def __init__(self):
        self.opened = []

    def open_model(self, path, **about):
        self.opened.append((path, about))


@pytest.fixture
def program(tmp_path, spec):
    """A question whose model, and a file beside it, are programs that somebody agreed to."""
    for name in ("model.pkl", "scaler.pkl", "names.json"):
        (tmp_path / name).write_text(name)
    companions = tuple(
        Companion(str(tmp_path / name), sha256(tmp_path / name), trusted=name.endswith(".pkl"))
        for name in ("scaler.pkl", "names.json")
    )
    model = tmp_path / "model.pkl"
    card = msgspec.structs.replace(
        spec.model, path=str(model), sha256=sha256(model), companions=companions
    )
    return msgspec.structs.replace(spec, model=card, trusted=True)


@pytest.mark.parametrize("trusted", [True, False])
def test_who_asks_now_agrees_or_not(program, tmp_path, trusted):
    asked, opener = [], Opener()

    def trusting(path):
        asked.append(path.name)
        return trusted

    reopen(program, {}, opener, trusting=trusting)
    ((path, about),) = opener.opened
    assert path == tmp_path / "model.pkl"
    assert about["trusted"] is trusted
    assert [each.trusted for each in about["companions"]] == [trusted, False]
    # what needed no consent is not asked about
    assert sorted(asked) == ["model.pkl", "scaler.pkl"]


def test_what_needed_no_consent_gets_none(program):
    plain = msgspec.structs.replace(program, trusted=False)
    opener = Opener()
    reopen(plain, {}, opener)
    assert opener.opened[0][1]["trusted"] is False

"""What can come of opening a model of another version, without a window."""

import pytest

from fairdesk.audit.environments import environments
from fairdesk.errors import ModelError
from fairdesk.gui.wizard.model.opening import Stranded, Wish, open_files
from fairdesk.models.pickles.contents import Contents
from tests import phrases


class Refusing:
    """A worker in which no model opens."""

    def __init__(self, saved_with):
        self.contents = Contents("pickle", {"scikit-learn": saved_with})

    def look_into(self, path):
        return self.contents

    def open_model(self, path, **_):
        raise ModelError(f"“{path.name}” cannot be opened.", why="It says: x", remedy="Try.")


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "environments_folder", lambda: tmp_path / "none")
    path = tmp_path / "model.pkl"
    path.write_bytes(b"")

    def attempt(saved_with):
        worker = Refusing(saved_with)
        return open_files(worker, (), Wish(path), lambda _: None, lambda: False)

    return attempt


def test_an_environment_is_offered_where_one_can_be_made(attempt):
    offered = attempt("1.3.2")

    assert isinstance(offered, Stranded)
    assert offered.needed.title == "scikit-learn 1.3.2"


def test_where_none_can_be_made_that_is_said(attempt):
    with pytest.raises(ModelError, match=phrases.CAN_BE_INSTALLED) as caught:
        attempt("0.17.1")

    assert "0.17.1" in caught.value.why
    assert "ONNX" in caught.value.remedy

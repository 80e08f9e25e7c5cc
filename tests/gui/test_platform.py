"""What the window needs of Qt and of its own imports."""

import subprocess
import sys

import pytest

HEAVY = (
    "numpy", "pandas", "sklearn", "scipy", "tensorflow", "keras", "onnxruntime", "h5py",
    "joblib", "pyqtgraph",
)  # fmt: skip


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal since Python 3.12")
def test_void_calls_lose_no_reference_to_none():
    # PySide6 6.12 takes one reference from None per void call, until Python aborts
    done = run(
        "import os, sys\n"
        "os.environ['QT_QPA_PLATFORM'] = 'offscreen'\n"
        "from PySide6.QtWidgets import QApplication, QLabel\n"
        "app = QApplication([])\n"
        "label = QLabel()\n"
        "before = sys.getrefcount(None)\n"
        "for _ in range(500): label.setText('x')\n"
        "print(before - sys.getrefcount(None))\n"
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 50


def test_the_first_paint_waits_for_nothing_numeric():
    done = run(
        "import sys, fairdesk.gui.app\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_wizard_and_workspace_leave_the_heavy_libraries_to_the_worker():
    done = run(
        "import sys, fairdesk.gui.wizard.dialog, fairdesk.gui.workspace.shell.workspace\n"
        "heavy = ('pandas', 'sklearn', 'scipy', 'tensorflow', 'onnxruntime', 'h5py')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_state_machine_knows_no_qt():
    done = run(
        "import sys, fairdesk.gui.wizard.state.wizard_state, fairdesk.gui.wizard.telling\n"
        "print(any(name.startswith('PySide6') for name in sys.modules))\n"
    )
    assert done.stdout.strip() == "False", done.stderr

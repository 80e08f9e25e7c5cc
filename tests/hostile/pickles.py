"""Pickles that do harm when they are opened, or when the model in them is asked."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.audit import making

_SENDS = """
data = open(SECRET).read()
import socket
with socket.create_connection(("127.0.0.1", TCP), timeout=2) as out:
    out.sendall(data.encode())
"""

_PIPES = """
import fcntl, stat
pipes = []
for number in range(3, 64):
    try:
        writes = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        if writes and stat.S_ISFIFO(os.fstat(number).st_mode):
            pipes.append(number)
    except OSError:
        pass
"""

_GUEST = """
import gc
from fairdesk.audit.worker import frames, server, wire
guest = next(each for each in gc.get_objects() if isinstance(each, server.Guest))
outgoing = guest._outgoing
frame = sys._getframe()
while frame.f_code is not server.Guest.answer.__code__:
    frame = frame.f_back
call = frame.f_locals["request"].call
"""

#: A model card that nobody can show.
_ABSURD_CARD = """
from fairdesk.models.model import ModelCard, Takes
card = ModelCard("m", "0" * 64, "x" * {letters}, "s", Takes.MATRIX, ("a",), False,
                 tuple(str(i) for i in range({classes})), "probabilities")
frames.write(outgoing, call, wire.ModelOpened(card))
"""

_FORGED_FINDING = """
one = np.array([[400.0, 7, -3]])
score = np.array([[0.5]], np.float32)
from fairdesk.results.events import Found
found = Found(one, one, score, score, np.array([[True]]), "local")
frames.write(outgoing, call, found)
"""

#: What is done at once: as the source of a program. By name: what needs to hold for it, and it.
DEEDS: dict[str, tuple[tuple[str, ...], str]] = {
    "runs a command": (("programs", "files"), "os.system('touch ' + CANARY + '/new')"),
    "starts a program": (
        ("programs",),
        "import subprocess; subprocess.run(['touch', CANARY + '/new'], check=True)",
    ),
    "becomes a program": (("programs",), "os.execv('/bin/sh', ['sh', '-c', 'touch ' + KEPT])"),
    "forks": (
        ("programs",),
        "for _ in range(100):\n    if os.fork() == 0:\n        time.sleep(120); os._exit(0)",
    ),
    "leaves a daemon": (
        ("programs",),
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(120); os._exit(0)",
    ),
    "starts threads without end": (
        ("memory",),
        (
            "import threading\nthreading.stack_size(1 << 30)\n"
            "while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        ),
    ),
    "takes all memory": (
        ("memory",),
        "hoard = []\nwhile True: hoard.append(np.zeros(1 << 27))",
    ),
    "takes all shared memory": (
        ("memory",),
        "import mmap\nhoard = []\nwhile True: hoard.append(mmap.mmap(-1, 1 << 30))",
    ),
    "writes a file": (("files",), "open(CANARY + '/new', 'w').write('x')"),
    "writes over a file": (("files",), "open(KEPT, 'w').write('x')"),
    "adds to a file": (("files",), "open(KEPT, 'a').write('x')"),
    "empties a file": (("files",), "os.truncate(KEPT, 0)"),
    "deletes files": (
        ("files",),
        "import shutil; shutil.rmtree(CANARY, ignore_errors=True); os.unlink(KEPT)",
    ),
    "renames a file": (("files",), "os.rename(KEPT, CANARY + '/new')"),
    "links to a file": (("files",), "os.link(KEPT, 'kept'); open('kept', 'w')"),
    "changes rights": (
        ("files",),
        (
            "import stat\nfor path in (CANARY + '/private', LIBRARIES):\n"
            "    try: os.chmod(path, 0o777)\n    except OSError: pass\nos.chmod(CANARY, 0)"
        ),
    ),
    "changes times": (("files",), "os.utime(KEPT, (0, 0))"),
    "settles in the home": (("files",), "open(HOME + '/.' + MARK, 'w')"),
    "settles among libraries": (("files",), "open(LIBRARIES + '/' + MARK + '.pth', 'w')"),
    "settles in the temporary folder": (("files",), "open('/tmp/' + MARK, 'w')"),
    "rewrites what it was given": (
        ("files",),
        (
            "given = os.path.join(os.path.dirname(os.getcwd()), 'given')\n"
            "for root, _, names in os.walk(given):\n"
            "    for name in names: open(os.path.join(root, name), 'w')"
        ),
    ),
    "sets a trap for the clean-up": (
        (),
        (
            "os.symlink(CANARY, 'canary'); os.mkdir('shut', 0); os.rename('tmp', 'away')\n"
            "os.symlink(CANARY, 'tmp')"
        ),
    ),
    "reads a secret": (("files",), "raise ValueError(open(SECRET).read())"),
    "lists the home": (("files",), "os.listdir(HOME); raise ValueError(TOLD)"),
    "reads a secret and sends it": (("files", "network"), _SENDS),
    "reads the app's memory": (
        ("files",),
        "open(f'/proc/{APP}/mem', 'r+b').close(); raise ValueError(TOLD)",
    ),
    "reads the app's environment": (
        ("files",),
        "open(f'/proc/{APP}/environ', 'rb').read(); raise ValueError(TOLD)",
    ),
    "opens a connection": (
        ("network",),
        "import socket; socket.create_connection(('127.0.0.1', TCP), timeout=2)",
    ),
    "sends a datagram": (
        ("network",),
        (
            "import socket\n"
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', TCP))"
        ),
    ),
    "opens a local connection": (
        ("network",),
        "import socket; socket.socket(socket.AF_UNIX).connect(LOCAL)",
    ),
    "kills the app": (
        ("programs",),
        (
            "import signal\nfor number in (APP, os.getppid()):\n"
            "    try: os.kill(number, signal.SIGUSR2)\n    except OSError: pass\n"
            "signal.pidfd_send_signal(os.pidfd_open(APP), signal.SIGUSR2)"
        ),
    ),
    "traces the app": (
        ("programs",),
        (
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "if libc.ptrace(16, APP, 0, 0) != 0: raise OSError(ctypes.get_errno(), 'refused')"
        ),
    ),
    "limits the app": (
        ("programs",),
        "import resource; resource.prlimit(APP, resource.RLIMIT_NOFILE, (50, 50))",
    ),
    "lifts its own limits": (
        ("descriptors",),
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 16, 1 << 16))",
    ),
    "exhausts descriptors": (
        ("descriptors",),
        "kept = []\nwhile True: kept.append(os.open('/dev/null', 0))",
    ),
    "makes an endless file": (("files",), "open('big', 'wb').truncate(1 << 40)"),
    "fills the disk": (
        ("files",),
        (
            "import itertools\nfor i in itertools.count():\n"
            "    open(f'big{i}', 'wb').truncate(1 << 30); time.sleep(0.02)"
        ),
    ),
    "makes files without end": (
        (),
        "import itertools\nfor i in itertools.count(): open(f'file{i}', 'w').close()",
    ),
    "prints without end": (
        (),
        (
            "for _ in range(20_000): print('x' * 1000); print('y' * 1000, file=sys.stderr)\n"
            "os._exit(5)"
        ),
    ),
    "poisons compiled code": (
        ("files",),
        (
            "folder = os.environ['NUMBA_CACHE_DIR']\n"
            "for root, _, names in os.walk(folder):\n"
            "    for name in names: open(os.path.join(root, name), 'wb').write(b'poison')\n"
            "os._exit(5)"
        ),
    ),
    "prints garbage on the pipe": (
        (),
        _PIPES + "for number in pipes: os.write(number, b'garbage, not a frame' * 100)\n"
        "time.sleep(120)",
    ),
    "announces an endless frame": (
        (),
        _PIPES + "for number in pipes: os.write(number, b'FDW1\\xff\\xff\\xff\\xff')\n"
        "time.sleep(120)",
    ),
    "greets again": (
        (),
        _GUEST + "from fairdesk.audit.sandbox.folders import unknown\n"
        "frames.write(outgoing, call, wire.Hello(unknown()))\n"
        "time.sleep(120)",
    ),
    "forges a card of a million classes": (
        (),
        _GUEST + _ABSURD_CARD.format(letters=1, classes=1_000_000) + "time.sleep(120)",
    ),
    "forges a card of ten million letters": (
        (),
        _GUEST + _ABSURD_CARD.format(letters=10_000_000, classes=2) + "time.sleep(120)",
    ),
    "forges an answer of 4 GB": (
        (),
        _GUEST + 'header = b\'{"call":1,"message":{"type":"Predicted","scores":'
        '{"dtype":"<f4","shape":[536870912,3]}}}\'\n'
        "import struct\noutgoing.write(struct.pack('<4sI', b'FDW1', len(header)) + header)\n"
        "outgoing.flush(); time.sleep(120)",
    ),
    "forges a finding": ((), _GUEST + _FORGED_FINDING + "time.sleep(120)"),
    "closes the pipe": ((), _PIPES + "for number in pipes: os.close(number)\ntime.sleep(120)"),
    "ends the process": ((), "os._exit(7)"),
    "ends the process well": ((), "os._exit(0)"),
    "asks to end": ((), "sys.exit(0)"),
    "crashes": ((), "import ctypes; ctypes.string_at(0)"),
    "aborts": ((), "os.abort()"),
    "stops itself": ((), "import signal; os.kill(os.getpid(), signal.SIGSTOP)"),
    "loops": ((), "while True: pass"),
    "sleeps": ((), "time.sleep(10_000)"),
    "raises what is no exception": ((), "raise GeneratorExit('a strange end')"),
    "recurses": ((), "sys.setrecursionlimit(1 << 30)\nf = lambda _=0: max([1], key=f)\nf()"),
}


def write(path: Path, deed: str, names: dict[str, object], *, when_asked: bool) -> Path:
    """Write a pickle that does it when it is opened, or when its model is asked."""
    source = "\n".join(
        (*(f"{name} = {value!r}" for name, value in names.items()), textwrap.dedent(deed))
    )
    run = f"exec({source!r}, globals())"
    if when_asked:
        return making.write_model(path, misbehaviour=run)
    return making.write_model(path, opening=run)

"""The process of an older Python that opens a model: ``python -I beside.py`` and this module.

It is to the guest what the guest is to the app: it reads nothing before it has given up what it
can of its rights and said what that was worth, its pipes are its own, and it ends with them. It
runs in Python 3.8 too, and so does everything that it imports: those modules are listed in
``pyproject.toml``.
"""

from __future__ import annotations

import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fairdesk.audit.worker.guest import claim_pipes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fairdesk.models.model import OpenedModel


def main() -> None:
    """Serve until the guest closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = claim_pipes()
    # only now: whatever is imported may print
    from fairdesk.audit.sandbox import folders  # noqa: PLC0415
    from fairdesk.audit.sandbox.confining import confine  # noqa: PLC0415

    # before numeric libraries: they start threads, which would keep their rights
    layers = () if folders.UNCONFINED in sys.argv else confine(folders.current_sandbox())
    import msgspec  # noqa: PLC0415

    from fairdesk.audit.sandbox.probe import try_out  # noqa: PLC0415
    from fairdesk.audit.worker.relay_wire import write  # noqa: PLC0415

    write(outgoing, msgspec.to_builtins(try_out(folders.current_sandbox(), layers)))
    serve(incoming, outgoing)


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answer questions until the stream ends."""
    from fairdesk.audit.worker.relay_wire import read, write  # noqa: PLC0415

    server = _Server()
    while True:
        frame = read(incoming)
        if frame is None:
            return
        message, arrays = server.answer(*frame)
        write(outgoing, message, arrays)


class _Server:
    """Keeps a model open and asks it."""

    def __init__(self) -> None:
        self._opened: OpenedModel | None = None

    def answer(
        self, asked: dict[str, Any], arrays: list[NDArray[Any]]
    ) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Answer a question; whatever goes wrong is answered too."""
        from fairdesk.errors import FairDeskError, ModelError  # noqa: PLC0415

        try:
            if asked["ask"] == "open":
                return self._open(asked), []
            return {}, [self._scores(asked["ask"], arrays)]
        except FairDeskError as error:
            failed = error
        except (SystemExit, KeyboardInterrupt):
            failed = ModelError(
                "The model’s own code tried to end the program.",
                remedy="Ask the author of the model for the reason, or request it as ONNX.",
            )
        except MemoryError:
            failed = ModelError(
                "There is not enough memory for this.",
                remedy="Close other programs, or audit with fewer rows or starting rows.",
            )
        except Exception as error:  # noqa: BLE001 - the boundary: a defect must not end the process
            traceback.print_exc()
            failed = ModelError(
                "An unexpected error occurred in the model process.",
                why=f"{type(error).__name__}: {error}.",
                remedy="See the log file for details.",
            )
        message = {"what": failed.what, "why": failed.why, "remedy": failed.remedy}
        return {"failed": type(failed).__name__, **message}, []

    def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        import msgspec  # noqa: PLC0415

        from fairdesk.models.model import Companion  # noqa: PLC0415
        from fairdesk.models.preparation.companions import with_companions  # noqa: PLC0415
        from fairdesk.models.sklearn.file import open_scikit  # noqa: PLC0415

        self._opened = None
        path, trusted, output = Path(asked["path"]), asked["trusted"], asked["output"]
        opened = open_scikit(path, trusted=trusted, output=output)
        if asked["companions"]:
            listed = [Companion(**companion) for companion in asked["companions"]]
            opened = with_companions(opened, listed)
        self._opened = opened
        card: dict[str, Any] = msgspec.to_builtins(opened.card)
        return card

    def _scores(self, how: str, arrays: list[NDArray[Any]]) -> NDArray[np.float32]:
        from fairdesk.errors import WorkerError  # noqa: PLC0415

        if self._opened is None:
            raise WorkerError("No model is open.", remedy="Open the model file first.")
        if how == "matrix":
            matrix = getattr(self._opened, "matrix_scores")  # noqa: B009 - some models have it
            scores: NDArray[np.float32] = matrix(arrays[0])
            return scores
        return self._opened.scores(arrays)


if __name__ == "__main__":
    main()

"""What is offered where a model was saved with other versions of its libraries."""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.audit.environments.environments import Requirement
from fairdesk.errors import ModelError
from fairdesk.gui.kit.parts import Banner
from fairdesk.gui.wizard.model.opening import Stranded

_DOWNLOAD = "(a download of about 300 megabytes from the package registry)"


def offer_versions(banner: Banner, better: Requirement, make: Callable[[], object]) -> None:
    """Say that a model was opened with other versions, and offer the right ones."""
    banner.say(
        better.mismatch,
        "It was opened, but its outputs may differ from those with the versions it was saved with. "
        f"FairDesk can open it with the right versions in a separate environment {_DOWNLOAD}.",
        [(f"Open with {better.title}…", make)],
    )


def offer_environment(
    banner: Banner,
    result: Stranded,
    make: Callable[[], object],
    another: tuple[str, Callable[[], object]],
) -> None:
    """Say why a model cannot be opened, and offer an environment in which it can."""
    banner.tell(
        ModelError(
            result.error.what,
            why=result.needed.mismatch,
            remedy=(
                "FairDesk can open it with the right versions in a separate environment, which is "
                f"created once {_DOWNLOAD}."
            ),
        ),
        [(f"Create environ&ment with {result.needed.title}", make), another],
    )

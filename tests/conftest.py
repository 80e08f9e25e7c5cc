"""What holds for every test."""

from __future__ import annotations

import hypothesis

# A deadline is a time that is asserted, and machines are busy.
hypothesis.settings.register_profile("fairdesk", deadline=None)
hypothesis.settings.load_profile("fairdesk")

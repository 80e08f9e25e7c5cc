"""Makes the documentation site of the pages that `fairdesk.manual` makes (a hook of MkDocs)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairdesk.cli.commands import commands_page
from fairdesk.files import resources
from fairdesk.manual.places import CONTENTS
from fairdesk.manual.reference import pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files


def on_config(config: MkDocsConfig) -> None:
    """Give the site the contents that the help in the window has."""
    config.nav = []
    for chapter in CONTENTS:
        entries = [{title: place} for place, title in chapter.pages.items()]
        config.nav += [{chapter.title: entries}] if chapter.title else entries


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that are made, and FairDesk's icon."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - loaded by its own name otherwise

    written = files.src_uris
    for place, text in pages(commands_page()).items():
        if place not in written:
            files.append(File.generated(config, place, content=text))
    icon = resources() / "icons" / "fairdesk.svg"
    files.append(File.generated(config, "pictures/fairdesk.svg", abs_src_path=str(icon)))


def on_post_build(config: MkDocsConfig) -> None:
    """Write what is searched as a script too: pages that are opened as files can read no JSON."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")

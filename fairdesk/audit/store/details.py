"""What only the auditor can say of a report, and how it is wanted: kept in the audit file."""

from __future__ import annotations

from typing import Literal

import msgspec

TemplateKey = Literal["plain", "ll144", "annex-iv", "model-card"]
Paper = Literal["a4", "us-letter"]
#: What is shown of single people: everything; only invented people; values in bands.
Redaction = Literal["none", "synthetic", "bands"]
#: What the PDF promises: accessible (UA-1), to be kept (A-3a, A-2a), or nothing.
Standard = Literal["ua-1+a-3a", "ua-1", "a-3a", "a-2a", "none"]


class Signer(msgspec.Struct, frozen=True):
    """Who signs the report, in which role, and when (a date as they write it)."""

    name: str
    role: str = ""
    date: str = ""


class Categories(msgspec.Struct, frozen=True):
    """Which attributes tell sex, and race or ethnicity, and what their values are called.

    Attributes
    ----------
    sex, race : str
        The attributes' names; empty where there is none.
    names : dict[str, dict[str, str]]
        Per attribute: the category, as it is published, of a value of the data. Values with the
        same category are counted together; one with an empty category counts as unknown. A value
        that is left out is its own category.
    """

    sex: str = ""
    race: str = ""
    names: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)


class Details(msgspec.Struct, frozen=True):
    """What the auditor fills in.

    Attributes
    ----------
    texts : dict[str, str]
        By the keys of `fairdesk.report.content.fields.FIELDS`; those left out are empty.
    signers : tuple[Signer, ...]
        Who signs.
    categories : Categories
        For tables by published categories.
    logo : bytes
        A picture for the cover (SVG, PNG or JPEG); empty for none.
    """

    texts: dict[str, str] = msgspec.field(default_factory=dict)
    signers: tuple[Signer, ...] = ()
    categories: Categories = Categories()
    logo: bytes = b""


class Choice(msgspec.Struct, frozen=True):
    """How a report is wanted.

    Attributes
    ----------
    template : str
        Which kind of report.
    paper : str
        The size of its pages.
    redaction : str
        What is shown of single people.
    standard : str
        What its PDF promises.
    left_out, added : tuple[str, ...]
        Keys of sections, charts and tables: those that are dropped, and those that are shown
        although they are not by default.
    """

    template: TemplateKey = "plain"
    paper: Paper = "a4"
    redaction: Redaction = "none"
    standard: Standard = "ua-1+a-3a"
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

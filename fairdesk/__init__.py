"""FairDesk: find, prove, document and repair discrimination in trained models."""

__version__ = "0.1.0"

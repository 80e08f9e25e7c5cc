"""The report page: its preview, contents, exports, signing and verification."""

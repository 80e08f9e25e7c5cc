"""Opening pickles as data: the allow-list, rebuilding, vetting, and consent."""

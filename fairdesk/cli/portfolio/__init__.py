"""``fairdesk audit-many``: the command, and its plan in TOML."""

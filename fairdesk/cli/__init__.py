"""The ``fairdesk`` command: its arguments, and what each of its commands does."""

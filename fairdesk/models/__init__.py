"""One way to ask any model: opening files, feeding them, and what they can do."""

"""Places in the documentation: a page, perhaps with an anchor on it."""

FIRST = "index.md"
TERMS = "terms.md"
CHOICE = "how-to/choose-a-figure.md"
METHODS = "reference/methods.md"
FIGURES = "reference/figures.md"


def method_place(method: str) -> str:
    """Return where a method is described, by its key."""
    return f"{METHODS}#{method}"


def option_place(method: str, option: str) -> str:
    """Return where an option of a method is described."""
    return f"{METHODS}#{method}.{option}"


def figure_place(formula: str) -> str:
    """Return where a figure is described, by the key of its formula."""
    return f"{FIGURES}#{formula}"

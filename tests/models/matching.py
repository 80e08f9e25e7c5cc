"""A model's mapping, as it is proposed."""

from fairdesk.models.inputs.mapping.propose import propose


def match(*asked, **more):
    """Return what is proposed, where nothing is left open."""
    return propose(*asked, **more).mapping()

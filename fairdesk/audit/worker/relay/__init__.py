"""A model opened in the Python of its time, in a second process beside the guest."""

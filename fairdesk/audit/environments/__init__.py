"""Separate environments for models that were saved with other versions."""

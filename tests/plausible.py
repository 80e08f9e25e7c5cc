"""Pairs that were compared with the data, made up: both instances of a pair alike."""

import numpy as np

from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.population.plausible import RAREST


def scored(distance, nearest, typicality):
    """Return how plausible pairs are of which both instances are so far, and so typical."""
    typicality = np.asarray(typicality, dtype=float)
    distance = np.asarray(distance, dtype=float)
    return Plausibility(
        distance, np.asarray(nearest), typicality, distance, typicality, typicality > RAREST
    )

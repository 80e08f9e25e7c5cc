"""The baselines beside TestSGD: THEMIS's group scores and FairFictPlay."""

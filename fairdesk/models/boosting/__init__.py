"""Boosted trees in their libraries' own files: XGBoost's and LightGBM's as data."""

"""Boosted trees in their libraries' own files: XGBoost's and LightGBM's are read as data."""

"""Runs on the workers of a Dask cluster; the only room that knows Dask, which it loads lazily."""

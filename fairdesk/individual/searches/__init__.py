"""Searches for discriminatory pairs, one module for each paper."""

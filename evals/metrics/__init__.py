"""Metrics: pure functions from a run folder to figures. Fractions are 0–1, and None where n is 0."""

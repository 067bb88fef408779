"""FIKA-Bench: its data is not here and its manifest's field names are not published: read what a user has."""

from fieldmark.evals.benchmarks.fika.loading import load_fika

__all__ = ["load_fika"]

"""Judging the episodes of a run: beside them as they end, or again later."""

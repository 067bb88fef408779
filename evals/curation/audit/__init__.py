"""Persons look at every candidate: is its label right, and specific enough for an open answer."""

"""Persons say why answers were wrong, each alone, so that the classifier can be measured."""

"""Agents of others, unchanged, behind one small interface."""

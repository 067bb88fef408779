"""Attribute labels of pictures by the vote of several models (AMIGO, arXiv 2603.28662, section 3.2)."""

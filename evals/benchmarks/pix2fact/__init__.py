"""Pix2Fact (arXiv 2602.00593): its data are not here: read what a user has."""

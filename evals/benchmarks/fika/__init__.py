"""FIKA-Bench: its data is not here and its manifest's field names are not published: read what a user has."""

"""AMIGO played in a run: its games, their referees, and what becomes of them."""

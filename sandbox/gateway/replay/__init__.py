"""Model calls of a recorded run, answered again."""

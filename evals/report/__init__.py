"""The report of a run: the same tables on a terminal, as HTML and (by the command) as JSON."""

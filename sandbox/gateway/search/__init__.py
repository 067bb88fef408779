"""Searching the web, by words or by picture: in the run's own pages, through SerpApi, or as recorded."""

"""A person answers a drawn exam in the browser, and becomes a run like any other."""

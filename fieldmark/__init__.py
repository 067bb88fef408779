"""fieldmark: tool-using recognition agents in sandboxes, recorded, judged and explained."""

__version__ = "0.1.0"

"""Pages that support an answer: kept, reachable, and naming it."""

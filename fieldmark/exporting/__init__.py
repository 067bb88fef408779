"""What of a run may be published, and the proof that no gold is in it."""

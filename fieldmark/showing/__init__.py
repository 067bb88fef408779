"""One episode, for a person's eyes: `fieldmark show`."""

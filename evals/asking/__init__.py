"""A model that is asked for one JSON object: what its judging and its classifying have in common."""

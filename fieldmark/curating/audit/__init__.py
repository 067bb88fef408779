"""The page on which a person audits labels: one candidate at a time, by keys."""

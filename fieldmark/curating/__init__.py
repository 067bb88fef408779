"""Making the next benchmark: the steps of a curation that ask models, or write a release."""

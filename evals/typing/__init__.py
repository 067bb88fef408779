"""What kind of question a question is, by a model: three dimensions, a sidecar file of facets."""

"""What `fieldmark new` writes: working files, in which the template's name is replaced."""

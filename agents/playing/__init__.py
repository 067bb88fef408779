"""What `amigo_player` is made of."""

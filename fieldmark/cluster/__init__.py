"""A run over many machines, on Ray: who asks, who plays, and what travels between them."""

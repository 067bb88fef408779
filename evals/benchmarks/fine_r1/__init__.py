"""Fine-R1's evaluation: six datasets of fine-grained classes, closed or open world; data of the user's."""

"""Copies of a task's own picture that an agent came upon, and whether one of them gave the answer away."""

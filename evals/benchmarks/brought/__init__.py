"""Data that the user brings: opened, checked, their manifest read, its keys mapped."""

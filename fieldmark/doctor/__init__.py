"""What this machine and a model can do, found out before anything is spent."""

"""What a finished trace shows: what the agent looked at, and whether the right answer stood before it."""

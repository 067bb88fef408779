"""AMIGO (arXiv 2603.28662): a hidden target in a gallery of look-alikes, found by Yes/No questions."""

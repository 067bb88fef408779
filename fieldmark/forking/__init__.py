"""`fieldmark fork`: a recorded episode once more from one of its events on, with one thing changed."""

"""Is a picture already on the web, as a copy, and does what stands beside that copy give its answer away."""

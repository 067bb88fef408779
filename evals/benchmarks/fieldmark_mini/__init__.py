"""`fieldmark-mini`: a bundled smoke benchmark (see README.md). Data, and the script that drew some of it."""

"""The bundled gallery set of AMIGO: drawn garments with true labels."""

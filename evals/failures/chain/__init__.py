"""The first broken link by the scheme of Pix2Fact, beside the taxonomy of our own."""

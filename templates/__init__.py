"""Templates: the shapes that a synthesised controller may take."""

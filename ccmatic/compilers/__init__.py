"""Back ends of the controllers' language: one file or folder for each representation that a term is compiled to."""

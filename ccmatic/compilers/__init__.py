"""Back ends of the language of controllers: one file or folder for each world that a term is compiled to."""

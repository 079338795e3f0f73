"""Back ends of the controllers' language. Each file or folder compiles terms to one representation."""

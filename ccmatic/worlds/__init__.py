"""Back ends of the language in which controllers are written.

Each file or folder compiles terms to one representation.
"""

"""Judge code that ships: run it in virtual time over lawful links, and find the worst scenario for it."""

"""Controllers that ccmatic or the paper's tool synthesised."""

#: The controllers in the paper's Listing 2.
PUBLISHED = ("cc_probe_drain", "cc_probe_fast", "cc_probe_qdel", "cc_probe_slow", "cc_qdel")

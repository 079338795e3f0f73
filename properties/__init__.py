"""Properties: what a controller must ensure."""

#: What a query asks for that names none, and what a proof's lemmas are asked as.
DEFAULT, LEMMA = "synthesis_invariant", "lemma"

"""Properties: what a controller must ensure."""

#: What a query asks for that names none, what a proof's lemmas are asked as, and what is worse than a value.
DEFAULT, LEMMA, WORSE = "synthesis_invariant", "lemma", "avoids"

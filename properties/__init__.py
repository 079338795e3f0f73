"""Properties: what a controller must ensure."""

#: What a query asks for that names none, what a proof's lemmas are asked as, what is worse than a value, and what a
#: query asks for by floors on the constants of a shape.
DEFAULT, LEMMA, WORSE, GUARANTEE = "synthesis_invariant", "lemma", "avoids", "guarantee"

#: What people expect in the question language.
EXPECTS = "expects"

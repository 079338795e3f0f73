"""Properties: requirements on controllers."""

#: The property of queries that name none; of a proof's lemmas; of the search for worst values; and of queries with
#: floors on the constants of a shape.
DEFAULT, LEMMA, WORSE, GUARANTEE = "synthesis_invariant", "lemma", "avoids", "guarantee"

#: The property of expectations in the question language.
EXPECTS = "expects"

"""Properties: requirements that a controller should meet."""

#: The default property of queries; the property of a proof's lemmas; the property for searching worst values; and
#: the property for queries with floors on the constants of a shape.
DEFAULT, LEMMA, WORSE, GUARANTEE = "synthesis_invariant", "lemma", "avoids", "guarantee"

#: The property to which the question language translates expectations.
EXPECTS = "expects"

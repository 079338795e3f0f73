"""An observation of marks: their share, and by how much they grew, in packets."""


def observe(marked_share, marked, marked_before, MSS):
    return [marked_share, (marked - marked_before) / MSS / 100]

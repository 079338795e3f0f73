"""Applications that pause: which packets they offer in a step."""


class Application:
    """It offers all packets in time, none, or some of them, for a while each."""

    def __init__(self, rng):
        self.rng, self.left, self.offer = rng, 0, None

    def __call__(self, count):
        rng = self.rng
        if not self.left:
            self.left, self.offer = rng.randint(1, 6), rng.choice(("all", "all", "none", "early", "late", "some"))
        self.left -= 1
        numbers, offered = range(1, count + 1), rng.randint(0, count)
        if self.offer in ("all", "none"):
            return numbers if self.offer == "all" else ()
        if self.offer == "some":
            return sorted(rng.sample(numbers, offered))
        return numbers[:offered] if self.offer == "early" else numbers[count - offered :]


class Bursts(Application):
    """It may also offer packets late in the step, so that the sender catches up at once."""

    def __call__(self, count):
        places = super().__call__(count)
        if self.offer == "some" and count:
            latest = self.rng.randint(1, count)
            return [max(latest, place) for place in range(1, count + 1)]
        return places

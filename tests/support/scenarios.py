"""Random lawful scenarios for the path in virtual time."""

from fractions import Fraction

from ccmatic import records
from ccmatic.judging import scenario

MS, SECOND = 10**6, 10**9


def _events(rng, duration, rate, rtt, buffer, jitter, packet):
    now, held = 0, [0, 0, 0]
    for _ in range(rng.randrange(9)):
        now += rng.randrange(1, duration // 4)
        if now >= duration:
            return
        length = rng.randrange(1, 300 * MS)
        kind = rng.randrange(9)
        if kind == 0 and jitter and now >= held[0]:
            length = rng.choice([jitter, rng.randrange(1, jitter + 1)])
            held[0] = now + length
            yield records.HoldEvent(at=now, length=length)
        elif kind == 1:
            yield records.RateEvent(at=now, bits=max(100_000, int(rate * rng.uniform(0.2, 4))))
        elif kind == 2:
            yield records.RttEvent(at=now, rtt=rng.randrange(1 + rtt // 4, rtt + 60 * MS))
        elif kind == 3:
            yield records.LossEvent(at=now, packets=rng.randrange(1, 20))
        elif kind == 4:
            yield records.IdleEvent(at=now, length=3 * length)
        elif kind == 5:
            yield records.LimitEvent(at=now, length=3 * length, bits=rng.randrange(10_000, rate))
        elif kind == 6 and now >= held[1]:
            held[1] = now + length
            together = jitter and rng.random() < 0.5
            how = {"aggregate": rng.randrange(1, jitter + 1)} if together else {"lose": rng.randrange(1, 6)}
            yield records.AcksEvent(at=now, length=length, **how)
        elif kind == 7 and now >= held[2]:
            held[2] = now + length
            yield records.OutageEvent(at=now, length=length)
        elif kind == 8:
            yield records.BufferEvent(at=now, bytes=packet + rng.randrange(2 * buffer))


def _flows(rng, duration, rtt, beside):
    yield records.FlowRecord()
    if rng.random() < 0.4:
        other = {"rtt": rng.choice([None, 2 * rtt]), "beside": rng.choice([beside, None])}
        yield records.FlowRecord(start=rng.randrange(duration // 2), **other)
    if rng.random() < 0.2:
        yield records.FlowRecord(start=rng.randrange(duration // 2), stop=duration - 1, beside=beside)


def random_scenario(rng, beside, most_rate=100_000_000):
    """A scenario of 1 to 4 s, in which a controller may send beside the subject."""
    duration = rng.randrange(SECOND, 4 * SECOND)
    rate = min(most_rate, rng.choice([1_000_000, 7_123_457, 24_000_000, 100_000_000]))
    rtt, packet = rng.choice([1, 10, 40, 200]) * MS + rng.randrange(1000), rng.choice([576, 1200, 1500])
    buffer = int(rate * rtt / 8 / SECOND * rng.choice([0.3, 1, 3])) + 3 * packet + rng.randrange(packet)
    jitter = rng.choice([0, rng.randrange(1, 50 * MS)])
    policer = records.PolicerRecord(bits=rate // 2 + 1, bucket=rng.randrange(packet, 20 * packet))
    chance = records.ChanceRecord(share=Fraction(rng.randrange(1, 50), 1000), burst=rng.randrange(1, 5))
    return scenario.lawful(
        scenario.Scenario(
            duration=duration,
            rate=rate,
            rtt=rtt,
            buffer=buffer,
            jitter=jitter,
            packet=packet,
            spacing=rng.choice([1, 10_000, 100_000]),
            seed=rng.randrange(2**40),
            threshold=buffer // 2 if rng.random() < 0.2 else None,
            policer=policer if rng.random() < 0.2 else None,
            loss=chance if rng.random() < 0.2 else None,
            events=tuple(_events(rng, duration, rate, rtt, buffer, jitter, packet)),
            flows=tuple(_flows(rng, duration, rtt, beside)),
            acknowledgements=records.AcknowledgementsRecord(packets=rng.choice([1, 2, 10])),
        )
    )

"""Tests that judge real time run alone, also where several processes test."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from time import monotonic, sleep

from support import turns


def test_nobody_is_beside_who_is_to_be_alone(monkeypatch, tmp_path):
    for name in ("NEXT", "THERE"):
        (tmp_path / name).touch()
        monkeypatch.setattr(turns, name, tmp_path / name)

    def stay(number):
        alone = number % 3 == 0
        with turns.turn(alone):
            begin = monotonic()
            sleep(0.01)
            return begin, monotonic(), alone

    with ThreadPoolExecutor(4) as pool:
        stays = list(pool.map(stay, range(24)))
    beside = [(one[2], other[2]) for one, other in combinations(stays, 2) if one[0] < other[1] and other[0] < one[1]]
    assert set(beside) == {(False, False)}

"""Orca's action (Abbasloo et al., SIGCOMM 2020): multiply CUBIC's window by 2^a; CUBIC continues from the result.

CUBIC follows RFC 9438, sections 4.2 to 4.7 and 4.10, without timeouts. For the bytes that were in flight at a loss, it
decreases the window at most once. A loss ends slow start. A rising delay ends slow start, too, as in the kernel
(HyStart, Ha and Rhee, 2011). Windows are in packets.
"""

C = 0.4  # packets/s^3 (4.6)
BETA = 0.7  # (4.6)
ALPHA = 3 * (1 - BETA) / (1 + BETA)  # packets per RTT that give Reno's share with this BETA (4.3)


def bounds():
    return [-2, 2]


def first_window():
    return 10  # RFC 6928


def first_window_before():
    return 0  # cwnd_prior


def first_highest():
    return 0  # W_max


def first_reno():
    return 0  # W_est


def first_since(second):
    return 0 * second  # time since the curve began


def first_K(second):
    return 0 * second


def first_slow():
    return 1  # 1 in slow start, else 0


def first_recover(byte):
    return 0 * byte  # bytes that were in flight at the last decrease, and are neither acknowledged nor lost yet


def multiplied(window, action, byte, MSS):
    return max(2, min(2**action * window, 2**29 * byte / MSS))


def act(multiplied, MSS, rtt_end):
    return multiplied * MSS / rtt_end


def decreases(lost, acked, recover, byte):
    return lost > 0 * byte and recover <= acked


def leaves(slow, rtt, rtt_end, least_rtt, second):
    return slow > 0 and min(rtt, rtt_end) > least_rtt + min(max(least_rtt / 8, 0.004 * second), 0.016 * second)


def packets(acked, MSS):
    return acked / MSS


def elapsed(since, seconds):
    return since + seconds


def target(since, rtt, K, highest, multiplied, second):
    return min(max(C * ((since + rtt - K) / second) ** 3 + highest, multiplied), 1.5 * multiplied)


def grown_reno(reno, window_before, packets, multiplied):
    return reno + (ALPHA if reno < window_before else 1) * packets / multiplied


def grown(multiplied, slow, packets, target, elapsed, K, highest, grown_reno, second):
    more = multiplied + (packets if slow > 0 else (target - multiplied) * packets / multiplied)
    below = slow <= 0 and C * ((elapsed - K) / second) ** 3 + highest < grown_reno
    return grown_reno if below else more


def next_window(decreases, leaves, multiplied, grown):
    return max(2, BETA * multiplied) if decreases else multiplied if leaves else grown


def next_window_before(decreases, leaves, multiplied, window_before):
    return multiplied if decreases or leaves else window_before


def next_highest(decreases, leaves, multiplied, highest):
    lower = multiplied * ((1 + BETA) / 2 if multiplied < highest else 1)  # fast convergence: room for other flows
    return lower if decreases else multiplied if leaves else highest


def next_reno(decreases, leaves, next_window, grown_reno):
    return next_window if decreases or leaves else grown_reno


def next_since(decreases, leaves, elapsed, second):
    return 0 * second if decreases or leaves else elapsed


def next_K(decreases, leaves, next_highest, next_window, K, second):
    return cbrt(max(0, next_highest - next_window) / C) * second if decreases or leaves else K


def next_slow(decreases, leaves, slow):
    return 0 if decreases or leaves else slow


def next_recover(decreases, out, recover, acked, lost, byte):
    return out if decreases else max(0 * byte, recover - acked - lost)

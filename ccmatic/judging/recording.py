"""The recording of a run: its packets, replies and samples, and the exact check of the path's laws."""

import numpy as np

#: The records of the path in C (path.c), little endian. Times are in ns; -1 means never.
PACKET = np.dtype(
    [
        *((name, "<i8") for name in ("arrival", "admitted", "released")),
        *(("size", "<i4"), ("flow", "<i2"), ("lost", "i1"), ("marked", "i1")),
    ]
)
REPLY = np.dtype([("sent", "<i8"), ("arrived", "<i8"), ("size", "<i4"), ("flow", "<i2"), ("pad", "<i2")])
SAMPLE = np.dtype(
    [
        *((name, "<i8") for name in ("time", "window", "in_flight", "rtt", "rate")),
        *(("flow", "<i2"), ("flags", "<i2"), ("pad", "<i4")),
    ]
)

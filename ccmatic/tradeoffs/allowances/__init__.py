"""How much may be lost while ramping up: allowances, the fastest ramp each leaves, exactly and as it grows."""

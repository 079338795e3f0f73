"""The controllers with state that are exported, simulated and compared."""

CONTROLLERS = (
    *("aimd", "aimd_any_start", "aimd_believing", "aimd_each_step", "bbr", "bbr_v1", "copa", "cubic", "dctcp"),
    *("illinois", "lp", "prague", "reno", "rocc", "vegas"),
)

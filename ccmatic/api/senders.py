"""Senders: fit the paths that they meet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ccmatic.records import GuaranteeLine


def fit(
    log: str | Path,
    models: Sequence[str] = (),
    *,
    rtt: str | None = None,
    horizon: int = 10,
    two_clocks: bool = False,
    received: str | Path | None = None,
    controllers: Sequence[str] = (),
) -> tuple[Any, list[GuaranteeLine]]:
    """Find, for each model, the smallest jitter with which a link explains a packet log, and the rate of this link.

    Args:
        log: A packet log (docs/reference/formats.md).
        models: The models whose links are fitted. By default: cbr_delay, ccac, and the models of the controllers'
            proofs.
        rtt: R_m, such as "40ms", which is also the length of a step. By default, the smallest delay in the log.
        horizon: T. A window lasts T-1 steps.
        two_clocks: Whether the clocks of sender and receiver differ by an unknown constant.
        received: The capture at the receiver. If `received` is given, `log` is the capture at the sender.
        controllers: The controllers whose shipped proofs are compared with the path.

    Returns:
        The FitResult, and a GuaranteeLine for each proof of a controller.

    Raises:
        InputError: If the log cannot be read, or a name is unknown.

    Examples:
        >>> fitted, guarantees = cm.fit("examples/links/cellular.mahimahi", rtt="40ms", controllers=["cc_qdel"])
    """
    from ccmatic import fitting

    fitted, covered = fitting.fit_file(log, models, rtt, horizon, two_clocks, received, controllers)
    return fitted, covered


def explain_log(
    log: str | Path,
    *,
    rtt: str | None = None,
    jitter: str | None = None,
    two_clocks: bool = False,
    received: str | Path | None = None,
) -> Any:
    """Find the networks that explain every packet of a log, the simplest first.

    Args:
        log: A packet log (docs/reference/formats.md) that has the sending time of every packet.
        rtt: R_m, such as "40ms". By default, the smallest delay in the log.
        jitter: The largest jitter of an explanation, such as "4ms" or "1/2rtt". By default, a quarter of R_m.
        two_clocks: Whether the clocks of sender and receiver differ by an unknown constant.
        received: The capture at the receiver. If `received` is given, `log` is the capture at the sender.

    Returns:
        The Explanations. The field `explained` is None if the search found no explanation and did not decide all
        networks.

    Raises:
        InputError: The log cannot be read, or lacks the sending time of a packet.

    Examples:
        >>> cm.explain_log("examples/logs/policed.csv").answers[2].on
    """
    from ccmatic import fitting

    return fitting.explain_file(log, rtt, jitter, two_clocks, received)

"""The figure of the tightest bounds: the shares of the link that a controller uses, by K and beside its queue."""

from collections.abc import Sequence
from pathlib import Path

from ccmatic.networks import traces
from ccmatic.networks.traces import LOSS, QUIET, SENDER, SMALL
from ccmatic.proving.invariants.tightest import Bound


def draw(name: str, bounds: Sequence[Bound], file: Path) -> None:
    """Draw the bounds of a controller to a file.

    A filled mark is a proved bound. A hollow mark is the next tighter utilisation, refuted or unknown.

    Args:
        name: The name of the controller.
        bounds: The bounds that `tightest` yields.
        file: The path of a PNG, SVG or PDF file.

    Raises:
        InputError: If matplotlib is missing, or the file's suffix is not supported.
    """
    rates = [bound for bound in bounds if bound.within is not None]
    queue = next((bound.amount for bound in bounds if bound.subject == "queue"), None)
    with traces.figure(file, (8.4, 3.6)) as figure:
        by_short, by_queue = figure.subplots(1, 2)
        for bound in rates:
            if bound.amount is not None:
                by_short.plot(bound.within, float(bound.amount), "o", color=SENDER)
                if queue is not None:
                    by_queue.plot(float(bound.amount), float(queue), "o", color=SENDER)
                    where = (float(bound.amount), float(queue))
                    by_queue.annotate(f"K = {bound.within}", where, (4, 4), textcoords="offset points", fontsize=SMALL)
            if bound.following:
                share = float(bound.following.question.expectation.comparison.amount)
                refuted = bound.following.verdict == "refuted"
                by_short.plot(bound.within, share, "o", color=LOSS if refuted else QUIET, fillstyle="none")
        by_short.set(xlabel="K (C·$R_m$)", ylabel="share of the link", ylim=(0, 1.05), xscale="log")
        by_short.set_xticks([bound.within for bound in rates], [str(bound.within) for bound in rates])
        by_short.minorticks_off()
        by_queue.set(xlabel="least share of the link, short by at most K", ylabel="most bytes in the queue (C·$R_m$)")
        by_queue.set(xlim=(0, 1.05), ylim=(0, None if queue is None else float(queue) * 1.2))
        for axes in (by_short, by_queue):
            axes.grid(color="#e6e6e6", linewidth=0.7)
        title = f"{name}: filled marks are proved; hollow ones are refuted (red) or unknown (grey)"
        figure.suptitle(title, fontsize=SMALL, parse_math=False)

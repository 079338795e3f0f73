"""The C core of senders (link, sender, pacing, arithmetic): its sources, its build, and its interface for Python."""

from typing import TYPE_CHECKING

from ccmatic.base import late

if TYPE_CHECKING:
    from ccmatic.worlds.runtime.build import (
        BPF_TOOLS,
        LONGEST_RTT,
        LONGEST_STEP,
        UDP_TOOLS,
        build_bpf,
        build_udp,
        include_folder,
        library_sources,
        require_tools,
        shipped,
    )
    from ccmatic.worlds.runtime.library import (
        CompiledSender,
        Library,
        LibraryFlow,
        StatefulSender,
        StepObservations,
        compile_c,
    )

__all__ = [
    "BPF_TOOLS",
    "LONGEST_RTT",
    "LONGEST_STEP",
    "UDP_TOOLS",
    "CompiledSender",
    "Library",
    "LibraryFlow",
    "StatefulSender",
    "StepObservations",
    "build_bpf",
    "build_udp",
    "compile_c",
    "include_folder",
    "library_sources",
    "require_tools",
    "shipped",
]

__getattr__ = late(__name__)

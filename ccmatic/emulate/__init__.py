"""Real traffic over an emulated link.

Two network namespaces, one of senders and one of receivers, are joined by a program (emulator.c) that owns a TUN device
in each. Packets towards the receivers pass a drop-tail bottleneck, then a box that holds them, in order, for jitter,
then the whole of the propagation delay R_m. Packets towards the senders (acknowledgements) are passed on at once: they
are never lost and never wait. So R_m is all after the bottleneck, and a round trip is what the log says of a packet: from
arrival to release.

Bytes are those of IP packets, headers included and no link-layer framing, throughout: rates, buffers, positions in a
schedule, utilisation.
"""

/* Return how many packets to send in the current step. A remainder below one packet carries over to the next step. */
static inline uint64_t ccm_packets(struct ccm_sender *s)
{
    if (s->planned != s->start) {
        s->planned = s->start;
        s->left = s->budget % s->w.packet;
    }
    s->budget = s->left + ccm_rate_per_step(s);
    return s->budget / s->w.packet;
}

/* Return when the next packet is due. `packets` were due at `due_ns` and leave now. This is for stacks that cannot
 * reset their timer when the rate rises. Packets leave evenly, the first one at the start of each step, whatever the
 * rate was before. A late sender catches up at up to twice the rate. It gives up any lateness beyond a 32nd of the
 * step plus the sender's own jitter, so a stall does not end in a burst. */
static inline uint64_t ccm_next(struct ccm_sender *s, uint64_t now_ns, uint64_t due_ns, uint64_t packets)
{
    ccm_advance(s, now_ns + 1);
    const uint64_t take = packets * ccm_up(s->step, ccm_packets(s)), end = s->start + s->step;
    const uint64_t planned = ccm_at_least(due_ns, ccm_less(now_ns, s->step / 32 + s->more));

    return ccm_at_least(now_ns + take / 2, ccm_at_most(planned + take, end));
}

/* The most bytes that may be in flight: only the rate limits the sender. */
static inline uint64_t ccm_window(const struct ccm_sender *s, uint64_t now_ns)
{
    (void)s, (void)now_ns;
    return UINT64_MAX;
}

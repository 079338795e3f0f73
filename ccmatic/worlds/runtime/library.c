/* The further functions of senders that form beliefs. */
void NAME_limited(struct ccm_sender *s, uint64_t now_ns);
void NAME_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes);
void NAME_more_jitter(struct ccm_sender *s, uint32_t ns);
uint64_t NAME_next(struct ccm_sender *s, uint64_t now_ns, uint64_t due_ns, uint64_t packets);
uint64_t NAME_step(struct ccm_sender *s, uint64_t sent, uint64_t acked, uint64_t lost, uint64_t last_delay,
                   uint64_t first_delay);
bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value);
bool NAME_at_start(const struct ccm_sender *s);
uint64_t NAME_begun_again(const struct ccm_sender *s);
uint64_t NAME_decide(const struct ccm_beliefs *b, uint64_t packet, uint64_t wanted);
uint64_t NAME_clamp(struct ccm_sender *s, uint64_t now_ns, uint64_t wanted);

void NAME_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_limited(s, now_ns);
}

void NAME_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_in_flight(s, now_ns, bytes);
}

void NAME_more_jitter(struct ccm_sender *s, uint32_t ns)
{
    ccm_more_jitter(s, ns);
}

uint64_t NAME_next(struct ccm_sender *s, uint64_t now_ns, uint64_t due_ns, uint64_t packets)
{
    return ccm_next(s, now_ns, due_ns, packets);
}

/* End a step; for simulators that know the events of the step. The arguments are cumulative bytes at its end, and
 * the whole steps of delay of the last and the first byte acknowledged in the last step with any. Beliefs rely on
 * sent and acknowledged bytes that never decrease. Returns the rate of the next step, bytes per step. */
uint64_t NAME_step(struct ccm_sender *s, uint64_t sent, uint64_t acked, uint64_t lost, uint64_t last_delay,
                   uint64_t first_delay)
{
    s->sent = ccm_at_least(s->sent, sent);
    s->acked = ccm_at_least(s->acked, acked);
    s->lost = s->timely = s->excess = lost;
    s->last_delay = last_delay;
    s->first_delay = first_delay;
    ccm_end_step(s);
    return ccm_rate_per_step(s);
}

bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value)
{
    return ccm_beliefs(s, i, name, value);
}

/* Whether the sender still runs its start controller; false if it has none. */
bool NAME_at_start(const struct ccm_sender *s)
{
    return CCM_HAS_START && !s->started;
}

/* How often the sender dropped its beliefs because they might have been false. */
uint64_t NAME_begun_again(const struct ccm_sender *s)
{
    return s->begun_again;
}

/* The rate for these beliefs in bytes per step, rounded down. wanted: the wanted rate in an envelope, in bytes per
 * step. */
uint64_t NAME_decide(const struct ccm_beliefs *b, uint64_t packet, uint64_t wanted)
{
    return ccm_decide(b, packet, wanted);
}

/* The rate to send at from now on within an envelope, bytes per second. It is the allowed rate nearest to the rate
 * that was wanted in the first call of the current step. */
uint64_t NAME_clamp(struct ccm_sender *s, uint64_t now_ns, uint64_t wanted)
{
    ccm_want(s, now_ns, wanted);
    return ccm_rate(s, now_ns);
}

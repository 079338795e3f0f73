/* The further functions of senders with state. */
uint64_t NAME_window(struct ccm_sender *s, uint64_t now_ns);
uint64_t NAME_rate_per_step(const struct ccm_sender *s);
void NAME_step(struct ccm_sender *s, const struct ccm_seen *seen);
void NAME_limited(struct ccm_sender *s, uint64_t now_ns);
uint64_t NAME_stayed(const struct ccm_sender *s);
const struct ccm_state *NAME_state(const struct ccm_sender *s);

uint64_t NAME_window(struct ccm_sender *s, uint64_t now_ns)
{
    return ccm_window(s, now_ns);
}

/* The rate of the current step, bytes per step. */
uint64_t NAME_rate_per_step(const struct ccm_sender *s)
{
    return ccm_rate_per_step(s);
}

/* End a step with these observations; for simulators that know them. */
void NAME_step(struct ccm_sender *s, const struct ccm_seen *seen)
{
    ccm_end_step(s, seen);
}

void NAME_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_limited(s, now_ns);
}

/* The number of steps in which an assumption of the controller failed. */
uint64_t NAME_stayed(const struct ccm_sender *s)
{
    return s->stayed;
}

/* The state, in the order of the controller's source. */
const struct ccm_state *NAME_state(const struct ccm_sender *s)
{
    return &s->state;
}

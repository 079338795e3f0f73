/* What those that remember have besides. */
uint64_t NAME_window(struct ccm_sender *s, uint64_t now_ns);
uint64_t NAME_rate_per_step(const struct ccm_sender *s);
void NAME_step(struct ccm_sender *s, const struct ccm_seen *seen);
uint64_t NAME_stayed(const struct ccm_sender *s);
const struct ccm_state *NAME_state(const struct ccm_sender *s);

uint64_t NAME_window(struct ccm_sender *s, uint64_t now_ns)
{
    return ccm_window(s, now_ns);
}

/* The rate of the step under way, bytes per step. */
uint64_t NAME_rate_per_step(const struct ccm_sender *s)
{
    return ccm_rate_per_step(s);
}

/* For simulators that know what was seen in a step, which is over. */
void NAME_step(struct ccm_sender *s, const struct ccm_seen *seen)
{
    ccm_end_step(s, seen);
}

/* Steps in which what the controller assumes was not so. */
uint64_t NAME_stayed(const struct ccm_sender *s)
{
    return s->stayed;
}

/* What it remembers, in the order of its source. */
const struct ccm_state *NAME_state(const struct ccm_sender *s)
{
    return &s->state;
}

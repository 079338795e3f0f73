/* What all senders have, each a structure of its own in which time passes in steps; those of policies are intervals. */

/* The RTT given at first is only a guess: it tells the rate to begin with, but no step is over until ccm_rtt. */
static inline void ccm_guessed(struct ccm_sender *s)
{
    s->guessed = true;
}

/* Steps of this length, whatever RTTs are measured; false if it is 0 or more than CCM_LONGEST_STEP. */
static inline bool ccm_fix_step(struct ccm_sender *s, uint64_t step_ns)
{
    if (!step_ns || step_ns > CCM_LONGEST_STEP)
        return false;
    s->step = step_ns;
    s->rtt = 0;
    s->guessed = false;
    return true;
}

/* Takes the steps that are over. An event at the very end of one is of that step. Most calls come within a step, and so
 * pay for one comparison. */
static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns)
{
    if (s->guessed)
        s->start = ccm_at_least(s->start, now_ns);
    else if (ccm_less(now_ns, s->start) > s->step)
        ccm_take_steps(s, now_ns);
}

/* The common part of all senders. Each is a structure of its own in which time passes in steps. The steps of
 * policies are intervals. */

/* Declare that the RTT given at first is only a guess. It determines the first rate, but no step ends until ccm_rtt
 * is called. */
static inline void ccm_guessed(struct ccm_sender *s)
{
    s->guessed = true;
}

/* Fix the length of steps, whatever RTTs are measured; false if it is 0 or more than CCM_LONGEST_STEP. */
static inline bool ccm_fix_step(struct ccm_sender *s, uint64_t step_ns)
{
    if (!step_ns || step_ns > CCM_LONGEST_STEP)
        return false;
    s->step = step_ns;
    s->rtt = 0;
    s->guessed = false;
    return true;
}

/* Process the steps that have ended. An event exactly at the end of a step belongs to that step. Most calls come
 * within a step, and cost one comparison. */
static inline void ccm_advance(struct ccm_sender *s, uint64_t now_ns)
{
    if (s->guessed)
        s->start = ccm_at_least(s->start, now_ns);
    else if (ccm_less(now_ns, s->start) > s->step)
        ccm_take_steps(s, now_ns);
}

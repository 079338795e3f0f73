/* What policies have besides. */
float NAME_network(const float *x);
float NAME_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds, float *observation);

/* The action for an observation, before it is limited. */
float NAME_network(const float *x)
{
    return ccm_network(x);
}

/* An interval is over in which this was measured, and the next of so many seconds begins: its rate in bytes per second,
 * and the observation by which it was chosen. */
float NAME_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds, float *observation)
{
    ccm_decide(s, measured, seconds);
    memcpy(observation, s->watch.history, CCM_HISTORY * CCM_FEATURES * sizeof *observation);
    return s->rate;
}

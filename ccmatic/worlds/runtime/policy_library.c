/* The further functions of policies. */
float NAME_network(const float *x);
float NAME_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds, float *observation);

/* The network's action for an observation, or for its memory after an observation, before it is limited. */
float NAME_network(const float *x)
{
    return ccm_network(x);
}

#ifdef CCM_MEMORY
void NAME_recall(const float *x, float *memory);

/* Update the network's memory with an observation. */
void NAME_recall(const float *x, float *memory)
{
    ccm_recall(x, memory);
}
#endif

/* End an interval with these measurements. The next one, of this many seconds, begins. Returns its rate in bytes per
 * second, and stores the observation by which the network chose it. */
float NAME_decide(struct ccm_sender *s, const struct ccm_interval *measured, float seconds, float *observation)
{
    ccm_decide(s, measured, seconds);
    memcpy(observation, s->watch.history, CCM_HISTORY * CCM_FEATURES * sizeof *observation);
    return s->rate;
}

/* The further functions of a sender that a network guides in an envelope. */
float NAME_network(const float *x);
bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value);
uint64_t NAME_allowed(const struct ccm_sender *s, uint64_t wanted);
void NAME_observation(const struct ccm_sender *s, float *observation);

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

bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value)
{
    return ccm_beliefs(s, i, name, value);
}

/* The rate nearest to `wanted` that the envelope allows in the current step, both in bytes per step. */
uint64_t NAME_allowed(const struct ccm_sender *s, uint64_t wanted)
{
    return ccm_allowed(s, wanted);
}

/* The network's observation at the end of the last finished step. */
void NAME_observation(const struct ccm_sender *s, float *observation)
{
    memcpy(observation, s->watch.history, CCM_HISTORY * CCM_FEATURES * sizeof *observation);
}

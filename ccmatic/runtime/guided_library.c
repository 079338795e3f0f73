/* What those that a network guides in an envelope have besides. */
float NAME_network(const float *x);
bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value);
uint64_t NAME_allowed(const struct ccm_sender *s, uint64_t wanted);
void NAME_observation(const struct ccm_sender *s, float *observation);

/* The action for an observation, before it is limited. */
float NAME_network(const float *x)
{
    return ccm_network(x);
}

bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value)
{
    return ccm_beliefs(s, i, name, value);
}

/* The rate that the envelope allows in the step under way nearest to one that is wanted, both in bytes per step. */
uint64_t NAME_allowed(const struct ccm_sender *s, uint64_t wanted)
{
    return ccm_allowed(s, wanted);
}

/* What the network has seen by the end of the step last over. */
void NAME_observation(const struct ccm_sender *s, float *observation)
{
    memcpy(observation, s->watch.history, CCM_HISTORY * CCM_FEATURES * sizeof *observation);
}

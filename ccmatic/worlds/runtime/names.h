#ifndef CCM_KERNEL
/* For programs that log beliefs, or begin with other ones. */
static const char *const ccm_belief_names[] = {CCM_BELIEF_NAMES};

/* Get the i-th belief at the end of the last step; false if there is none. */
static inline bool ccm_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value)
{
    if (i >= sizeof ccm_belief_names / sizeof *ccm_belief_names)
        return false;
    *name = ccm_belief_names[i];
    *value = ((const uint64_t *)&s->w.beliefs[s->t])[i];
    return true;
}

/* Begin a window now, with this value of a belief; false if there is no belief of this name. */
static inline bool ccm_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    for (unsigned i = 0; i < sizeof ccm_belief_names / sizeof *ccm_belief_names; i++)
        if (!strcmp(name, ccm_belief_names[i])) {
            ((uint64_t *)&s->w.beliefs[0])[i] = ccm_at_most(CCM_LARGEST, value);
            s->windows = true;
            ccm_look(s, 0);
            return true;
        }
    return false;
}
#endif

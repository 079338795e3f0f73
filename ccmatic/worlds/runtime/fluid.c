/* One flow on one link as a fluid, slot by slot: the equations of models/cbr_delay/fluid.py, where comments explain
 * them, and the loop of ccmatic.learning's Environment around these equations. Counts are whole bytes; other numbers
 * are single floats, as in the arrays of JAX. */

/* A link and its tables, of one entry per slot. NULL stands for no jitter, or for no random loss. */
struct ccm_link {
    const int32_t *capacity;
    const float *held; /* the share of bytes that jitter holds */
    const float *luck, *normal; /* a random number from 0 to 1, and the normal deviate at this quantile */
    int32_t buffer, queue, packet, stop; /* stop: the slot in which the flow stops */
    int32_t slots, kept, rtt, jitters; /* slots in an interval; H, P and J of the equations */
    float slot, jitter, loss, capacity_mean, first_rate, most;
};

struct ccm_fluid {
    struct ccm_known known;
    float rate;
    int32_t interval, waiting, held, inside;
    float age;
    int32_t served[CCM_JITTERS], released[CCM_RTT], dropped[CCM_RTT];
    uint32_t accepted[CCM_KEPT];
    float ages[CCM_RTT + 1], history[CCM_VECTORS * CCM_FEATURES];
};

struct ccm_outcome {
    int32_t acked, lost;
    float delay_first, delay_last;
};

static inline int32_t ccm_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t ccm_smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The bytes that chance loses, in whole packets. */
static int32_t ccm_unlucky(const struct ccm_link *link, int32_t t, int32_t sent)
{
    const float mean = link->luck ? link->loss * (float)sent / (float)link->packet : 0;
    const float few = fminf(mean, CCM_EXACT);
    float term = expf(-few), cumulative = term;
    int32_t count;

    if (!link->luck)
        return 0;
    count = link->luck[t] > cumulative;
    for (int k = 1; k < 3 * CCM_EXACT; k++) {
        term = term * few * (1 / (float)k);
        cumulative += term;
        count += link->luck[t] > cumulative;
    }
    if (mean > CCM_EXACT)
        count = (int32_t)floorf(mean + sqrtf(mean) * link->normal[t] + 0.5f);
    return ccm_larger(0, ccm_smaller(count * link->packet, sent));
}

/* The bytes that jitter holds behind the bottleneck. */
static int32_t ccm_held(const struct ccm_link *link, struct ccm_fluid *f, int32_t t, int32_t total, int32_t served)
{
    const float within = fminf(fmaxf(1 - link->jitter, 0), 1);
    const int32_t capacity = link->capacity[t], before = f->waiting;
    float may = (float)ccm_larger(-before, 0) + ceilf((float)capacity * within), early;
    int32_t most = 0, behind;

    if (!link->held)
        return 0;
    early = fminf(may, (float)ccm_larger(before, 0) + ceilf((float)total * within));
    memmove(f->served + 1, f->served, (CCM_JITTERS - 1) * sizeof *f->served);
    f->served[0] = served;
    for (int i = 0; i < link->jitters; i++)
        if ((float)(i + 1) <= link->jitter)
            most += f->served[i];
    if (link->jitter < 1)
        most = ccm_larger(served - (int32_t)early, 0);
    behind = ccm_smaller((int32_t)floorf(link->held[t] * (float)most), f->held + served);
    return ccm_smaller(behind, most);
}

/* The age, in slots, of the next byte to be released, where `inside` bytes remain. */
static float ccm_age(const struct ccm_link *link, struct ccm_fluid *f, int32_t t, int32_t accepted, int32_t inside)
{
    const int32_t kept = link->kept;
    const uint32_t now = f->accepted[(t - 1 + kept) % kept] + (uint32_t)accepted;
    int32_t whole = 0, until, below, above;

    for (int i = 0; i < kept; i++)
        whole += (int32_t)(now - f->accepted[i]) < inside;
    whole = ccm_smaller(whole, kept - 1);
    until = (t - 1 - whole + 2 * kept) % kept;
    above = (int32_t)(now - f->accepted[until]);
    f->accepted[t % kept] = now;
    below = (int32_t)(now - f->accepted[(until + 1) % kept]);
    return (float)whole + fminf(fmaxf((float)(inside - below) / (float)ccm_larger(above - below, 1), 0), 1);
}

/* Play a slot in which the flow sends these bytes. */
static struct ccm_outcome ccm_slot(const struct ccm_link *link, struct ccm_fluid *f, int32_t t, int32_t sent)
{
    const int32_t unlucky = ccm_unlucky(link, t, sent), total = sent - unlucky, place = t % link->rtt;
    const int32_t over = f->waiting + total - link->capacity[t], dropped = ccm_larger(0, over - link->buffer);
    const int32_t waiting = ccm_larger(over - dropped, 0), accepted = total - dropped;
    const int32_t served = f->waiting + accepted - waiting;
    const int32_t held = ccm_held(link, f, t, total, served), inside = waiting + held;
    const int32_t now = t % (link->rtt + 1), next = (t + 1) % (link->rtt + 1);
    const struct ccm_outcome outcome = {f->released[place], f->dropped[place], f->ages[now], f->ages[next]};

    f->age = ccm_age(link, f, t, accepted, inside);
    f->released[place] = f->inside + accepted - inside;
    f->dropped[place] = dropped + unlucky;
    f->ages[now] = f->age;
    f->waiting = waiting;
    f->held = held;
    f->inside = inside;
    return outcome;
}

/* Send at the current rate for an interval, and return the measurements. */
static struct ccm_interval ccm_send(const struct ccm_link *link, struct ccm_fluid *f)
{
    const struct ccm_interval *before = &f->known.now;
    float end = before->rtt_end, waited = 0;
    int32_t sent = 0, acked = 0, lost = 0;
    struct ccm_interval now = *before;

    for (int slot = 0; slot < link->slots; slot++) {
        const int32_t t = f->interval * link->slots + slot;
        const int32_t sending = t < link->stop ? (int32_t)floorf(f->rate * link->slot) : 0;
        const struct ccm_outcome outcome = ccm_slot(link, f, t, sending);

        waited += (float)outcome.acked * ((float)link->rtt + (outcome.delay_first + outcome.delay_last) / 2) * link->slot;
        if (outcome.acked > 0)
            end = ((float)link->rtt + outcome.delay_last) * link->slot;
        sent += sending;
        acked += outcome.acked;
        lost += outcome.lost;
    }
    now.sent = (float)sent;
    now.acked = (float)acked;
    now.lost = (float)lost;
    now.rtt = acked > 0 ? waited / (float)acked : before->rtt;
    now.rtt_end = end;
    now.out = before->out + (float)sent - (float)acked - (float)lost;
    return now;
}

unsigned long ccm_fluid_size(void);
void ccm_fluid_begin(const struct ccm_link *link, struct ccm_fluid *f, float *out);
void ccm_fluid_step(const struct ccm_link *link, struct ccm_fluid *f, float action, float *out);

unsigned long ccm_fluid_size(void)
{
    return sizeof(struct ccm_fluid);
}

/* Write an observation, its reward, and the measures. */
static void ccm_tell(const struct ccm_link *link, struct ccm_fluid *f, bool begins, float *out)
{
    memcpy(out, f->history, CCM_HISTORY * CCM_FEATURES * sizeof *out);
    out += CCM_HISTORY * CCM_FEATURES;
    *out = 0;
    if (!begins)
        ccm_reward(&f->known, link->capacity_mean, out);
    ccm_measures(&f->known, out + 1);
}

/* Begin an episode. */
void ccm_fluid_begin(const struct ccm_link *link, struct ccm_fluid *f, float *out)
{
    const float rtt = (float)link->rtt * link->slot;
    const struct ccm_interval nothing = {.seconds = link->slot * (float)link->slots, .rtt = rtt, .rtt_end = rtt};

    *f = (struct ccm_fluid){.rate = link->first_rate, .waiting = link->queue, .inside = link->queue};
    f->known = (struct ccm_known){.now = nothing, .before = nothing, .packet = (float)link->packet};
    f->accepted[link->kept - 1] = (uint32_t)link->queue;
    ccm_remember_first(&f->known);
    ccm_tell(link, f, true, out);
}

/* Play an interval with an action that is within the bounds. */
void ccm_fluid_step(const struct ccm_link *link, struct ccm_fluid *f, float action, float *out)
{
    float *latest = f->history + (CCM_VECTORS - 1) * CCM_FEATURES, wanted;
    struct ccm_interval now;

    f->known.action = action;
    ccm_act(&f->known, f->rate, &wanted);
    f->rate = ccm_within(wanted, (float)link->packet / (link->slot * (float)link->slots), link->most / link->slot);
    now = ccm_send(link, f);
    f->known.before = f->known.now;
    f->known.now = now;
    f->interval++;
    ccm_remember(&f->known);
    memmove(f->history, f->history + CCM_FEATURES, sizeof f->history - CCM_FEATURES * sizeof *f->history);
    ccm_features(&f->known, latest);
    ccm_tell(link, f, false, out);
}

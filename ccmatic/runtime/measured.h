/* What a sender measured in a monitor interval: how long that was in seconds, bytes sent, acknowledged and found lost, the
 * mean RTT over what was acknowledged and that of the last byte of it, in seconds; bytes that were out at its end. Where
 * nothing was acknowledged both RTTs are as before. */
struct ccm_interval {
    float seconds, sent, acked, lost, rtt, rtt_end, out;
};

/* What it knows: the latest interval, the one before, the least RTT, the highest throughput in bytes per second, and the
 * smoothed RTT. */
struct ccm_known {
    struct ccm_interval now, before;
    float least_rtt, most, smoothed;
};

#define CCM_MBIT 125000.0f /* bytes per second */

static inline float ccm_loss_rate(const struct ccm_interval *i)
{
    return i->lost / fmaxf(i->acked + i->lost, 1.0f);
}

/* In Mbit/s. */
static inline float ccm_throughput(const struct ccm_interval *i)
{
    return i->acked / i->seconds / CCM_MBIT;
}

static inline float ccm_within(float value, float low, float high)
{
    return fminf(fmaxf(value, low), high);
}

static inline float ccm_gradient(const struct ccm_known *k)
{
    return ccm_within((k->now.rtt_end - k->before.rtt_end) / k->now.seconds, -10.0f, 10.0f);
}

/* Rewards, observations and actions are those of ccmatic/learning/envs/signals.py. */
static inline float ccm_reward_unseen(const struct ccm_known *k) /* of an observation without it */
{
    (void)k;
    return 0.0f;
}

static inline float ccm_reward_custard(const struct ccm_known *k)
{
    return ccm_throughput(&k->now) - k->now.rtt * 1000.0f - 100.0f * ccm_loss_rate(&k->now);
}

static inline float ccm_reward_power(const struct ccm_known *k)
{
    return ccm_throughput(&k->now) / (k->now.rtt * 1000.0f);
}

static inline float ccm_reward_vivace_loss(const struct ccm_known *k)
{
    const float throughput = ccm_throughput(&k->now);

    return powf(throughput, 0.9f) - 11.35f * throughput * ccm_loss_rate(&k->now);
}

static inline float ccm_reward_aurora(const struct ccm_known *k)
{
    const float packets = k->now.acked / k->now.seconds / 1500.0f;

    return (10.0f * packets - 1000.0f * k->now.rtt - 2000.0f * ccm_loss_rate(&k->now)) / 1000.0f;
}

static inline float ccm_reward_relative(const struct ccm_known *k)
{
    const float growth = k->now.acked / k->now.seconds / fmaxf(k->before.acked / k->before.seconds, 1.0f);

    return fminf(growth, 10.0f) - k->now.rtt / k->least_rtt - 3.0f * ccm_loss_rate(&k->now);
}

static inline void ccm_observe_custard(const struct ccm_known *k, float reward, float *x)
{
    x[0] = k->now.sent / k->now.seconds / CCM_MBIT / 100.0f;
    x[1] = ccm_throughput(&k->now) / 100.0f;
    x[2] = ccm_loss_rate(&k->now);
    x[3] = k->now.rtt * 10.0f;
    x[4] = ccm_gradient(k);
    x[5] = reward / 100.0f;
}

static inline void ccm_observe_aurora(const struct ccm_known *k, float reward, float *x)
{
    (void)reward;
    x[0] = ccm_gradient(k);
    x[1] = fminf(k->now.rtt / k->least_rtt - 1.0f, 10.0f);
    x[2] = fminf(k->now.sent / fmaxf(k->now.acked, 1.0f) - 1.0f, 10.0f);
}

static inline void ccm_observe_orca(const struct ccm_known *k, float reward, float *x)
{
    const float most = fmaxf(k->most, 1.0f), seconds = k->now.seconds;

    (void)reward;
    x[0] = fminf(k->now.acked / seconds / most, 10.0f);
    x[1] = fminf(k->now.sent / seconds / most, 10.0f);
    x[2] = fminf(k->now.lost / seconds / most, 10.0f);
    x[3] = fminf(k->now.out / (most * k->least_rtt), 10.0f);
    x[4] = k->least_rtt / k->smoothed;
}

static inline void ccm_observe_ltp(const struct ccm_known *k, float reward, float *x)
{
    const float throughput = k->now.acked / k->now.seconds;

    (void)reward;
    x[0] = (k->now.rtt - k->before.rtt) * 10.0f;
    x[1] = fminf(throughput / fmaxf(k->before.acked / k->before.seconds, 1.0f), 10.0f);
    x[2] = fminf((1.0f - ccm_loss_rate(&k->now)) / fmaxf(1.0f - ccm_loss_rate(&k->before), 0.1f), 10.0f);
    x[3] = throughput / fmaxf(k->most, 1.0f);
    x[4] = (k->now.rtt - k->least_rtt) * 10.0f;
}

/* The next rate, in the unit of the last. */
static inline float ccm_act_custard(float rate, float action, const struct ccm_known *k)
{
    (void)k;
    return rate * (1.0f + 0.01f * action);
}

static inline float ccm_act_per_rtt(float rate, float action, const struct ccm_known *k)
{
    return rate * expf(0.01f * action * k->now.seconds / k->now.rtt);
}

static inline float ccm_changed(float value, float change)
{
    return change >= 0.0f ? value * (1.0f + change) : value / (1.0f - change);
}

static inline float ccm_act_aurora(float rate, float action, const struct ccm_known *k)
{
    (void)k;
    return ccm_changed(rate, 0.025f * action);
}

static inline float ccm_act_orca(float rate, float action, const struct ccm_known *k)
{
    (void)k;
    return rate * exp2f(action);
}

static inline float ccm_act_ltp(float rate, float action, const struct ccm_known *k)
{
    return ccm_changed(rate * k->before.rtt, 0.25f * action) / k->now.rtt;
}

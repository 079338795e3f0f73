/* What a sender measures in a monitor interval: its length in seconds; bytes sent, acknowledged and found lost in it; the
 * mean RTT of the bytes acknowledged and the RTT of the last of them, in seconds; bytes in flight at its end. Where none
 * is acknowledged both RTTs are those of the interval before. */
struct ccm_interval {
    float seconds, sent, acked, lost, rtt, rtt_end, out;
};

/* What the sender knows: the latest interval and the one before; what its formulas remember; its latest action; the bytes
 * of a packet. */
struct ccm_known {
    struct ccm_interval now, before;
    float registers[CCM_REGISTERS], action, packet;
};

static inline float ccm_within(float value, float low, float high)
{
    return fminf(fmaxf(value, low), high);
}

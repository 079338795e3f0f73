/* A sender's measurements in a monitor interval: its length in seconds; the bytes sent, acknowledged and detected as
 * lost in it; the mean RTT of the acknowledged bytes and the RTT of the last of them, in seconds; the bytes in
 * flight at its end; the bytes acknowledged with a mark in it. If no byte is acknowledged, both RTTs are those of the
 * interval before. */
struct ccm_interval {
    float seconds, sent, acked, lost, rtt, rtt_end, out, marked;
};

/* The knowledge of the sender: the latest interval and the one before; the registers of its formulas; its latest
 * action; the bytes of a packet. */
struct ccm_known {
    struct ccm_interval now, before;
    float registers[CCM_REGISTERS], action, packet;
};

static inline float ccm_within(float value, float low, float high)
{
    return fminf(fmaxf(value, low), high);
}

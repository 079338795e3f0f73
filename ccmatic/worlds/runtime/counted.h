/* The events of senders that count bytes regardless of when these were sent: policies, and controllers with state. */

static inline void ccm_sent(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_advance(s, now_ns);
    s->sent += bytes;
}

/* Bytes that counted as lost are acknowledged now. They remain counted as lost. */
static inline void ccm_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_acked(s, now_ns, sent_ns, bytes);
}

/* Bytes are detected as lost now, because later ones were acknowledged. */
static inline void ccm_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    (void)sent_ns;
    ccm_advance(s, now_ns);
    s->lost += bytes;
}

/* A retransmission timer fires now, and the sender gives bytes up. */
static inline void ccm_gave_up(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_lost(s, now_ns, sent_ns, bytes);
    ccm_timed_out(s);
}

/* For controllers that only determine how a window grows, this does what the kernel does around them. While the
 * kernel recovers from losses, the window is the threshold, which the kernel reaches over an RTT. An undone loss
 * restores the window. These controllers do not pace. */
enum { TCP_CA_CWR = 2 };

static __always_inline void unpaced(struct sock *sk)
{
    sk->sk_pacing_rate = ~0ul;
}

/* Return whether the window may grow. Otherwise, limit it to the threshold while the kernel recovers. */
static __always_inline bool grows(struct sock *sk, uint32_t delivered)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;

    if (state(sk) != TCP_CA_CWR && state(sk) != TCP_CA_Recovery)
        return delivered;
    tcp->snd_cwnd = ccm_at_most(tcp->snd_cwnd, tcp->snd_ssthresh);
    return false;
}

static __always_inline uint32_t around_undo(struct sock *sk, uint32_t before)
{
    return ccm_at_least(((struct tcp_sock *)sk)->snd_cwnd, before);
}

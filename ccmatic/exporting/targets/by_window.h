/* What the kernel does for controllers that only say how a window grows: while it recovers from losses the window is the
 * threshold (which the kernel reaches over an RTT); what is undone gives it back. They do not pace. */
enum { TCP_CA_CWR = 2 };

static __always_inline void unpaced(struct sock *sk)
{
    sk->sk_pacing_rate = ~0ul;
}

/* Whether the window may grow; if not, it is as it has to be. */
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

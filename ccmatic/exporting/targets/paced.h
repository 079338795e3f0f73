/* What congestion controls for Linux share that send at a rate: the kernel counts and paces, the header decides.
 *
 * They act on each acknowledgement and before each packet that is sent, so they need no timer. Nothing waits for the
 * window, unless a retransmission timeout closes it. Segments are counted as full ones, of the size that they had at
 * first.
 */
#include "kernel.h"

enum { WINDOW = 1 << 16 };
/* The kernel sends at once what it paces over a 2^-10 of a second, if the device takes that. */
enum { BURSTS_IN_SECOND = 1 << 10, BURST_NS = 976563 };

struct flow {
    struct ccm_sender sender;
    uint64_t told;        /* when the sender was last told what happened */
    uint32_t ready;       /* segments that were due then */
    uint64_t due;         /* when the segment to be sent next is, or was, due */
    uint32_t sendable;    /* up to which the application had written, and the receiver would take, then */
    uint32_t sent, delivered, lost, retransmitted; /* segments that the sender knows of */
    uint32_t unambiguous; /* what ends after this was not retransmitted, so its RTT is known */
    uint64_t measured;    /* when the segment of the last RTT was sent */
    uint64_t acked_sent;  /* when the segment last acknowledged was sent; 0 where losses may be older than that */
    uint64_t logged;      /* when the step of the last record was over */
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct flow);
} flows SEC(".maps");

static __always_inline void count(struct flow *flow, const struct tcp_sock *tcp, uint64_t now)
{
    flow->told = now;
    flow->sendable = tcp->snd_una + tcp->snd_wnd;
    if ((int32_t)(tcp->write_seq - flow->sendable) < 0)
        flow->sendable = tcp->write_seq;
    flow->sent = tcp->data_segs_out;
    flow->delivered = tcp->delivered;
    flow->lost = tcp->lost;
}

/* The RTT of the segment last acknowledged, once, and only if it cannot be that of an earlier transmission. The
 * kernel's own least RTT is that of 300 s. */
static __always_inline void measure(struct flow *flow, const struct tcp_sock *tcp)
{
    if (tcp->total_retrans != flow->retransmitted) {
        flow->retransmitted = tcp->total_retrans;
        flow->unambiguous = tcp->snd_nxt;
    }
    if (tcp->rack.mstamp == flow->measured)
        return;
    flow->measured = tcp->rack.mstamp;
    if ((int32_t)(tcp->rack.end_seq - flow->unambiguous) <= 0)
        return;
    flow->unambiguous = tcp->rack.end_seq - 1;
    ccm_rtt(&flow->sender, 1000ull * tcp->rack.rtt_us);
}

static __always_inline unsigned char state(struct sock *sk)
{
    return BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
}

static __always_inline void left_at(struct flow *flow, uint64_t when, uint32_t segments)
{
    if (!segments)
        return;
    flow->due = ccm_next(&flow->sender, when, flow->due, segments);
    ccm_sent(&flow->sender, when, segments * flow->sender.w.packet);
}

/* Segments were sent since the sender was last told. It is told just before the kernel sends, so those that were due
 * left then. What is retransmitted may leave by the kernel's timer, which tells right afterwards; after a timeout, or to
 * probe for losses, at any time. If of what could be sent less than a segment is left, there may have been nothing to
 * send since. */
static __always_inline void tell_sent(struct flow *flow, struct sock *sk, uint64_t now)
{
    const struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint32_t sent = tcp->data_segs_out - flow->sent;
    bool any_time = sent && (state(sk) == TCP_CA_Loss || tcp->tlp_high_seq);
    uint32_t first = any_time || sent < flow->ready ? sent : flow->ready;

    left_at(flow, flow->told, first);
    if (any_time || (int32_t)(flow->sendable - tcp->snd_nxt) < (int32_t)tcp->mss_cache)
        ccm_limited(&flow->sender, flow->told);
    left_at(flow, now, sent - first);
}

/* At the latest, just before what is acknowledged now. If that is of a step whose first segment may be what was lost,
 * as nothing of the step was acknowledged before, then as early as that. */
static __always_inline uint64_t lost_sent(const struct flow *flow, uint64_t acked_sent)
{
    const struct ccm_sender *s = &flow->sender;
    uint64_t first = acked_sent > s->start ? s->first_out : s->first_out_before;

    return flow->acked_sent > first ? ccm_less(acked_sent, 1) : ccm_at_most(ccm_less(acked_sent, 1), first);
}

/* Tell the sender what happened since it was last told. What a timeout gives up is any of what is out; what else is
 * lost was sent before what is acknowledged now, and after what was acknowledged before: but when recovery begins, the
 * kernel has waited. */
static __always_inline void tell(struct flow *flow, struct sock *sk, uint64_t now)
{
    const struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint64_t segment = flow->sender.w.packet, acked_sent = tcp->first_tx_mstamp * 1000;
    uint32_t lost = tcp->lost - flow->lost, delivered = tcp->delivered - flow->delivered;

    tell_sent(flow, sk, now);
    ccm_advance(&flow->sender, now);
    measure(flow, tcp);
    if (delivered)
        ccm_acked(&flow->sender, now, acked_sent, delivered * segment);
    if (lost && state(sk) == TCP_CA_Loss)
        ccm_gave_up(&flow->sender, now, now, lost * segment);
    else if (lost)
        ccm_lost(&flow->sender, now, lost_sent(flow, acked_sent), lost * segment);
    flow->acked_sent = state(sk) == TCP_CA_Recovery ? acked_sent : 0;
    if (delivered)
        ccm_in_flight(&flow->sender, now, in_flight(tcp) * segment);
    count(flow, tcp, now);
}

/* How many segments the kernel sends at once. */
static __always_inline uint32_t at_once(const struct sock *sk, uint64_t rate, uint32_t segment)
{
    uint64_t bytes = ccm_at_most(rate / BURSTS_IN_SECOND, sk->sk_gso_max_size);

    return ccm_at_least(1, ccm_at_most(bytes / segment, sk->sk_gso_max_segs));
}

/* Make the kernel wait, after what it sends now, until the next is due: from the rate it computes a length of time, of
 * which it leaves out by how much it is late now, but half of it at most. Returns how many segments to send. */
static __always_inline uint32_t pace(struct sock *sk, struct flow *flow, uint64_t now)
{
    const struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint32_t segment = ccm_at_least(1, tcp->mss_cache);
    uint64_t wanted = ccm_rate(&flow->sender, now), most = sk->sk_max_pacing_rate;
    uint32_t segments = at_once(sk, wanted, segment);
    uint64_t wait = 1 + ccm_less(ccm_next(&flow->sender, now, flow->due, segments), tcp->tcp_clock_cache);
    uint64_t late = ccm_less(tcp->tcp_clock_cache, tcp->tcp_wstamp_ns);
    uint64_t rate = segments * segment * UINT64_C(1000000000) / (wait + ccm_at_most(wait, late));

    sk->sk_pacing_rate = rate < most ? rate : most;
    flow->ready = tcp->tcp_wstamp_ns > tcp->tcp_clock_cache ? 0 : segments;
    log_step(&flow->sender, &flow->logged, wanted);
    return segments;
}

/* Tell the sender what happened, and make the kernel wait. wanted: bytes per second, in an envelope. Returns how many
 * segments to send. */
static __always_inline uint32_t advance(struct sock *sk, uint64_t wanted)
{
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return 1;
    tell(flow, sk, now);
    if (CCM_ENVELOPE)
        ccm_want(&flow->sender, now, wanted);
    return pace(sk, flow, now);
}

static __always_inline void begin(struct sock *sk)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return;
    bool measured = tcp->rtt_min.s[0].v != ~0u;
    ccm_init(&flow->sender, now, measured ? 1000ull * tcp->rtt_min.s[0].v : RTT_NS, tcp->mss_cache);
    if (!measured)
        ccm_guessed(&flow->sender);
    if (sk->sk_gso_max_segs > 1)
        ccm_more_jitter(&flow->sender, BURST_NS);
    ccm_sent(&flow->sender, now, in_flight(tcp) * tcp->mss_cache);
    flow->retransmitted = tcp->total_retrans;
    flow->unambiguous = tcp->snd_nxt;
    flow->measured = tcp->rack.mstamp;
    count(flow, tcp, now);
    flow->due = now;
    if (sk->sk_pacing_status == SK_PACING_NONE)
        sk->sk_pacing_status = SK_PACING_NEEDED;
    (void)pace(sk, flow, now);
    tcp->snd_cwnd = WINDOW;
}

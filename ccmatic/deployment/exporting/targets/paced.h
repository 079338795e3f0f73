/* The common part of congestion controls for Linux that send at a rate: the kernel counts and paces, the header
 * decides.
 *
 * They act on each acknowledgement and before each transmission, so they need no timer. The window does not limit
 * the sender, unless a retransmission timeout closes it. Every segment counts as a full one, of the size at the
 * beginning of the connection.
 */
#include "kernel.h"

enum { WINDOW = 1 << 16 };
/* The kernel sends at once the segments that it paces over 2^-10 s, if the device accepts that many. */
enum { BURSTS_IN_SECOND = 1 << 10, BURST_NS = 976563 };

struct flow {
    struct ccm_sender sender;
    uint64_t reported;    /* the time of the last report to the sender */
    uint32_t ready;       /* segments due at that time */
    uint64_t due;         /* when the next segment is, or was, due */
    uint32_t sendable;    /* the end of the sendable bytes then: written, and acceptable to the receiver */
    uint32_t sent, delivered, lost, retransmitted; /* segments reported to the sender */
    uint32_t unambiguous; /* a segment that ends after this was not retransmitted, so its RTT is unambiguous */
    uint64_t measured;    /* when the segment of the last RTT sample was sent */
    uint64_t acked_sent;  /* when the segment last acknowledged was sent; 0 if losses may be older than that */
    uint64_t logged;      /* when the step of the last record ended */
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct flow);
} flows SEC(".maps");

static __always_inline void count(struct flow *flow, const struct tcp_sock *tcp, uint64_t now)
{
    flow->reported = now;
    flow->sendable = tcp->snd_una + tcp->snd_wnd;
    if ((int32_t)(tcp->write_seq - flow->sendable) < 0)
        flow->sendable = tcp->write_seq;
    flow->sent = tcp->data_segs_out;
    flow->delivered = tcp->delivered;
    flow->lost = tcp->lost;
}

/* Report the RTT of the segment last acknowledged, once, and only if it cannot be the RTT of an earlier
 * transmission. The kernel's own smallest RTT covers 300 s. */
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

/* Report the segments sent since the last report. A report comes just before the kernel sends, so the segments due
 * then left then. Retransmissions may leave by the kernel's timer, which reports right afterwards; after a timeout,
 * or as probes for losses, they may leave at any time. If less than a segment of the sendable bytes remains, the
 * application may have had nothing to send since. */
static __always_inline void report_sent(struct flow *flow, struct sock *sk, uint64_t now)
{
    const struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint32_t sent = tcp->data_segs_out - flow->sent;
    bool any_time = sent && (state(sk) == TCP_CA_Loss || tcp->tlp_high_seq);
    uint32_t first = any_time || sent < flow->ready ? sent : flow->ready;

    left_at(flow, flow->reported, first);
    if (any_time || (int32_t)(flow->sendable - tcp->snd_nxt) < (int32_t)tcp->mss_cache)
        ccm_limited(&flow->sender, flow->reported);
    left_at(flow, now, sent - first);
}

/* Return the latest time at which a lost segment may have been sent: just before the segment acknowledged now. If
 * nothing of that segment's step was acknowledged before, the step's first segment may be the lost one; then the
 * time is at most that segment's. */
static __always_inline uint64_t lost_sent(const struct flow *flow, uint64_t acked_sent)
{
    const struct ccm_sender *s = &flow->sender;
    uint64_t first = acked_sent > s->start ? s->first_out : s->first_out_before;

    return flow->acked_sent > first ? ccm_less(acked_sent, 1) : ccm_at_most(ccm_less(acked_sent, 1), first);
}

/* Report to the sender all events since the last report. A timeout gives up any of the segments in flight. Any other
 * lost segment was sent before the segment acknowledged now and after the one acknowledged before. The exception is
 * the beginning of recovery, because the kernel has waited. */
static __always_inline void report(struct flow *flow, struct sock *sk, uint64_t now)
{
    const struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint64_t segment = flow->sender.w.packet, acked_sent = tcp->first_tx_mstamp * 1000;
    uint32_t lost = tcp->lost - flow->lost, delivered = tcp->delivered - flow->delivered;

    report_sent(flow, sk, now);
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

/* Return how many segments the kernel sends at once. */
static __always_inline uint32_t at_once(const struct sock *sk, uint64_t rate, uint32_t segment)
{
    uint64_t bytes = ccm_at_most(rate / BURSTS_IN_SECOND, sk->sk_gso_max_size);

    return ccm_at_least(1, ccm_at_most(bytes / segment, sk->sk_gso_max_segs));
}

/* After the kernel's next transmission, make it wait until the following segments are due. The kernel computes a
 * length of time from the pacing rate, and shortens it by its current lateness, at most by half. Returns how many
 * segments to send. */
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

/* Report events to the sender, and make the kernel wait. wanted: the wanted rate in an envelope, bytes per second.
 * Returns how many segments to send. */
static __always_inline uint32_t advance(struct sock *sk, uint64_t wanted)
{
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return 1;
    report(flow, sk, now);
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

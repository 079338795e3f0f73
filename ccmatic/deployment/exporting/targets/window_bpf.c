/* The controller in @NAME@.h as the Linux congestion control CCM_TCP_NAME. The kernel counts, detects losses and
 * sends what the window allows; the header decides.
 *
 * It acts on each acknowledgement, and when a retransmission timer fires, so it needs no timer of its own. Every
 * segment counts as a full one, of the size at the beginning of the connection.
 */
#include "kernel.h"

struct flow {
    struct ccm_sender sender;
    uint32_t sent, delivered, lost; /* segments reported to the sender */
    uint64_t logged; /* when the step of the last record ended */
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct flow);
} flows SEC(".maps");

static __always_inline void count(struct flow *flow, const struct tcp_sock *tcp)
{
    flow->sent = tcp->data_segs_out;
    flow->delivered = tcp->delivered;
    flow->lost = tcp->lost;
}

static __always_inline bool is_measured(const struct tcp_sock *tcp)
{
    return tcp->rtt_min.s[0].v != ~0u;
}

/* Report to the sender all events since the last report. A step that ended before now is judged by what was known at
 * its end. */
static __always_inline void report(struct flow *flow, const struct tcp_sock *tcp, uint64_t now, bool timeout)
{
    struct ccm_sender *s = &flow->sender;
    uint64_t sent = tcp->data_segs_out - flow->sent, delivered = tcp->delivered - flow->delivered;
    uint64_t lost = tcp->lost - flow->lost;

    ccm_sent(s, now, sent * s->packet);
    if (is_measured(tcp))
        ccm_rtt(s, 1000ull * tcp->rtt_min.s[0].v);
    if (delivered)
        ccm_acked(s, now, 1000 * tcp->first_tx_mstamp, delivered * s->packet);
    if (timeout)
        ccm_gave_up(s, now, now, lost * s->packet);
    else if (lost)
        ccm_lost(s, now, now, lost * s->packet);
    if (tcp->write_seq == tcp->snd_nxt && 2 * in_flight(tcp) < tcp->snd_cwnd)
        ccm_limited(s, now);
    count(flow, tcp);
}

/* Make the kernel send by the sender's current window and rate. The kernel may pace at a rate of its own even if
 * this program requests no pacing. */
static __always_inline void set(struct sock *sk, struct flow *flow, uint64_t now)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    uint64_t window = ccm_window(&flow->sender, now) / flow->sender.packet, rate = ccm_rate(&flow->sender, now);

    /* The kernel does not pace by a rate of 0, and a low rate delays all later packets. So the sender sends at least
     * a packet per step. */
    uint64_t least = ccm_scaled(flow->sender.packet, 1000000000, flow->sender.step, true);

    tcp->snd_cwnd = ccm_at_most(window, tcp->snd_cwnd_clamp);
    sk->sk_pacing_rate = ccm_at_most(ccm_at_least(least, rate), sk->sk_max_pacing_rate);
    log_step(&flow->sender, &flow->logged, rate);
}

SEC("struct_ops")
void BPF_PROG(ccm_begin, struct sock *sk)
{
    const struct tcp_sock *tcp = (const struct tcp_sock *)sk;
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return;
    ccm_init(&flow->sender, now, is_measured(tcp) ? 1000ull * tcp->rtt_min.s[0].v : RTT_NS, tcp->mss_cache);
    if (!is_measured(tcp))
        ccm_guessed(&flow->sender);
    ccm_sent(&flow->sender, now, in_flight(tcp) * tcp->mss_cache);
    count(flow, tcp);
    if (CCM_PACED && sk->sk_pacing_status == SK_PACING_NONE)
        sk->sk_pacing_status = SK_PACING_NEEDED;
    set(sk, flow, now);
}

SEC("struct_ops")
void BPF_PROG(ccm_acknowledged, struct sock *sk)
{
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return;
    report(flow, (const struct tcp_sock *)sk, now, false);
    set(sk, flow, now);
}

/* When a retransmission timer fires, all segments in flight count as lost. The kernel then lets one segment out
 * until the segments that it had sent by then are acknowledged. */
SEC("struct_ops")
void BPF_PROG(ccm_changed, struct sock *sk, uint8_t new_state)
{
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);

    if (flow && new_state == TCP_CA_Loss)
        report(flow, (const struct tcp_sock *)sk, bpf_ktime_get_ns(), true);
}

SEC(".struct_ops")
struct tcp_congestion_ops CCM_TCP_NAME = {
    .ssthresh = (void *)ccm_ssthresh,
    .cong_control = (void *)ccm_acknowledged,
    .undo_cwnd = (void *)ccm_undo_cwnd,
    .set_state = (void *)ccm_changed,
    .init = (void *)ccm_begin,
    .name = CCM_TEXT_OF(CCM_TCP_NAME),
};

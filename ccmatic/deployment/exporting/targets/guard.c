/* The kernel's own @AROUND@ within the envelope in @NAME@.h, as the Linux congestion control CCM_TCP_NAME.
 *
 * Each time, @AROUND@ runs with the window and the pacing rate that it left before, and sets new ones. Together they
 * make the rate that it wants for the step that begins next. The sender paces at the nearest rate that the envelope
 * allows. The window never limits the sender: a sender that waits for acknowledgements may send less than the
 * envelope's lowest rate.
 */
#define CCM_AROUND
#include "paced.h"
#include "around_@AROUND@.h"

/* The state of the controller within: its window in segments, now and before it last slowed down; its rate in bytes
 * per second. */
struct within {
    uint32_t window, before;
    uint64_t rate;
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct within);
} flows_within SEC(".maps");

/* The kernel's own window and rate, stored while the controller within runs. */
struct kept {
    uint32_t window;
    uint64_t rate;
};

static __always_inline struct within *enter(struct sock *sk, struct kept *kept)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct within *within = bpf_sk_storage_get(&flows_within, sk, 0, 0);

    if (!within)
        return within;
    kept->window = tcp->snd_cwnd;
    kept->rate = sk->sk_pacing_rate;
    tcp->snd_cwnd = within->window;
    sk->sk_pacing_rate = within->rate;
    return within;
}

static __always_inline void leave(struct sock *sk, struct within *within, const struct kept *kept)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;

    within->window = tcp->snd_cwnd;
    within->rate = sk->sk_pacing_rate;
    tcp->snd_cwnd = kept->window;
    sk->sk_pacing_rate = kept->rate;
}

/* The rate that the controller within wants: a window per mean RTT, at most its pacing rate. Before an RTT is
 * measured, only the pacing rate counts. */
static __always_inline uint64_t wanted(struct sock *sk, const struct within *within)
{
    const struct tcp_sock *tcp = (const struct tcp_sock *)sk;
    uint64_t bytes = (uint64_t)within->window * tcp->mss_cache;

    return tcp->srtt_us ? ccm_at_most(within->rate, bytes * 8000000 / tcp->srtt_us) : within->rate;
}

SEC("struct_ops")
void BPF_PROG(ccm_begin, struct sock *sk)
{
    struct within *within = bpf_sk_storage_get(&flows_within, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

    if (!within)
        return;
    around_init(sk);
    within->window = within->before = ((struct tcp_sock *)sk)->snd_cwnd;
    within->rate = sk->sk_pacing_rate;
    begin(sk);
}

SEC("struct_ops")
void BPF_PROG(ccm_acknowledged, struct sock *sk, uint32_t ack, int flag, const struct rate_sample *sample)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!flow || !within)
        return;
    around_acknowledged(sk, ack, flag, sample, tcp->delivered - flow->delivered);
    leave(sk, within, &kept);
    tcp->snd_cwnd = WINDOW;
    (void)advance(sk, wanted(sk, within));
}

/* The kernel calls this before it sends. After it has sent, it reports to a controller that the window limits it if
 * the window is full. So if the bytes in flight fill the window within, only the due segments may leave now. */
SEC("struct_ops")
uint32_t BPF_PROG(ccm_least_segments, struct sock *sk)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct within *within = bpf_sk_storage_get(&flows_within, sk, 0, 0);

    if (!within)
        return 1;
    uint32_t segments = advance(sk, wanted(sk, within));
    uint32_t out = in_flight(tcp) + segments;
    if (state(sk) <= TCP_CA_Disorder)
        tcp->snd_cwnd = out < within->window ? WINDOW : out;
    return segments;
}

SEC("struct_ops")
uint32_t BPF_PROG(ccm_ssthresh, struct sock *sk)
{
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!within)
        return ((struct tcp_sock *)sk)->snd_ssthresh;
    within->before = within->window;
    uint32_t threshold = around_ssthresh(sk);
    leave(sk, within, &kept);
    return threshold;
}

/* After a timeout the controller within has the kernel's window: the segments in flight plus one. */
SEC("struct_ops")
void BPF_PROG(ccm_changed, struct sock *sk, uint8_t new_state)
{
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!within)
        return;
    around_changed(sk, new_state);
    leave(sk, within, &kept);
    if (new_state == TCP_CA_Loss)
        within->window = kept.window;
}

SEC("struct_ops")
uint32_t BPF_PROG(ccm_undo_cwnd, struct sock *sk)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!within)
        return tcp->snd_cwnd;
    uint32_t window = around_undo(sk, within->before);
    leave(sk, within, &kept);
    within->window = window;
    return tcp->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(ccm_event, struct sock *sk, enum tcp_ca_event event)
{
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!within)
        return;
    around_event(sk, event);
    leave(sk, within, &kept);
}

SEC("struct_ops")
void BPF_PROG(ccm_measured, struct sock *sk, const struct ack_sample *sample)
{
    struct kept kept;
    struct within *within = enter(sk, &kept);

    if (!within)
        return;
    around_measured(sk, sample);
    leave(sk, within, &kept);
}

SEC(".struct_ops")
struct tcp_congestion_ops CCM_TCP_NAME = {
    .ssthresh = (void *)ccm_ssthresh,
    .min_tso_segs = (void *)ccm_least_segments,
    .cong_control = (void *)ccm_acknowledged,
    .undo_cwnd = (void *)ccm_undo_cwnd,
    .set_state = (void *)ccm_changed,
    .cwnd_event = (void *)ccm_event,
    .pkts_acked = (void *)ccm_measured,
    .init = (void *)ccm_begin,
    .name = CCM_TEXT_OF(CCM_TCP_NAME),
};

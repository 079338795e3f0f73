/* The controller in @NAME@.h as a congestion control of Linux, @TCP_NAME@: the kernel counts and paces, the header
 * decides.
 *
 * It acts on each acknowledgement and before each packet that is sent, so it needs no timer. Nothing waits for the
 * window, unless a retransmission timeout closes it. Segments are counted as full ones. Of the kernel's structures only
 * what is used is declared: libbpf finds where the running kernel has it.
 */
#define CCM_KERNEL
typedef _Bool bool;
#define true 1
#define false 0
typedef unsigned char __u8, uint8_t;
typedef unsigned short __u16, __be16, uint16_t;
typedef unsigned int __u32, __be32, __wsum, uint32_t;
typedef unsigned long long __u64, uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int __s32, int32_t;
typedef long long __s64, int64_t;
#define INT64_C(value) value##ll
#define UINT64_C(value) value##ull

enum { BPF_MAP_TYPE_SK_STORAGE = 24, BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "@NAME@.h"

enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };
enum { WINDOW = 1 << 16, RTT_NS = 100000000 /* until one is measured */ };

#define FOUND __attribute__((preserve_access_index))

struct sock {
    unsigned long sk_pacing_rate, sk_max_pacing_rate;
    uint32_t sk_pacing_status;
} FOUND;

struct minmax_sample {
    uint32_t t, v;
} FOUND;

struct minmax {
    struct minmax_sample s[3];
} FOUND;

struct tcp_sock {
    uint32_t mss_cache, snd_cwnd, snd_ssthresh; /* of which only mss_cache is in bytes */
    uint32_t data_segs_out, delivered, lost;    /* segments so far */
    uint64_t first_tx_mstamp;                   /* when that last acknowledged was sent, in microseconds */
    struct minmax rtt_min;                      /* microseconds; ~0 if none is measured */
} FOUND;

struct tcp_congestion_ops {
    uint32_t (*ssthresh)(struct sock *sk);
    uint32_t (*min_tso_segs)(struct sock *sk);
    void (*cong_control)(struct sock *sk);
    uint32_t (*undo_cwnd)(struct sock *sk);
    char name[16];
    void (*init)(struct sock *sk);
} FOUND;

struct flow {
    struct ccm_sender sender;
    uint32_t sent, delivered, lost; /* segments that the sender knows of */
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct flow);
} flows SEC(".maps");

char _license[] SEC("license") = "Dual MIT/GPL";

static __always_inline uint64_t least_rtt_ns(const struct tcp_sock *tcp)
{
    uint32_t least = tcp->rtt_min.s[0].v;

    return least == ~0u ? RTT_NS : 1000ull * least;
}

static __always_inline void count(struct flow *flow, const struct tcp_sock *tcp)
{
    flow->sent = tcp->data_segs_out;
    flow->delivered = tcp->delivered;
    flow->lost = tcp->lost;
}

/* Tell the sender what happened since it was last told. */
static __always_inline void tell(struct flow *flow, const struct tcp_sock *tcp, uint64_t now)
{
    uint64_t segment = tcp->mss_cache;
    uint32_t sent = tcp->data_segs_out - flow->sent, lost = tcp->lost - flow->lost;
    uint32_t delivered = tcp->delivered - flow->delivered;

    if (sent)
        ccm_sent(&flow->sender, now, sent * segment);
    if (delivered) {
        ccm_rtt(&flow->sender, least_rtt_ns(tcp));
        ccm_acked(&flow->sender, now, tcp->first_tx_mstamp * 1000, delivered * segment);
    }
    if (lost)
        ccm_lost(&flow->sender, now, tcp->first_tx_mstamp * 1000, lost * segment);
    count(flow, tcp);
}

static __always_inline void pace(struct sock *sk, struct flow *flow, uint64_t now)
{
    uint64_t rate = ccm_rate(&flow->sender, now), most = sk->sk_max_pacing_rate;

    sk->sk_pacing_rate = rate < most ? rate : most;
}

static __always_inline void advance(struct sock *sk)
{
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return;
    tell(flow, (struct tcp_sock *)sk, now);
    pace(sk, flow, now);
}

SEC("struct_ops")
void BPF_PROG(ccm_begin, struct sock *sk)
{
    struct tcp_sock *tcp = (struct tcp_sock *)sk;
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    uint64_t now = bpf_ktime_get_ns();

    if (!flow)
        return;
    ccm_init(&flow->sender, now, least_rtt_ns(tcp), tcp->mss_cache);
    count(flow, tcp);
    if (sk->sk_pacing_status == SK_PACING_NONE)
        sk->sk_pacing_status = SK_PACING_NEEDED;
    pace(sk, flow, now);
    tcp->snd_cwnd = WINDOW;
}

SEC("struct_ops")
void BPF_PROG(ccm_acknowledged, struct sock *sk)
{
    ((struct tcp_sock *)sk)->snd_cwnd = WINDOW;
    advance(sk);
}

/* The kernel asks for this before it sends. */
SEC("struct_ops")
uint32_t BPF_PROG(ccm_least_segments, struct sock *sk)
{
    advance(sk);
    return 1;
}

SEC("struct_ops")
uint32_t BPF_PROG(ccm_ssthresh, struct sock *sk)
{
    return ((struct tcp_sock *)sk)->snd_ssthresh;
}

SEC("struct_ops")
uint32_t BPF_PROG(ccm_undo_cwnd, struct sock *sk)
{
    return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops @TCP_NAME@ = {
    .ssthresh = (void *)ccm_ssthresh,
    .min_tso_segs = (void *)ccm_least_segments,
    .cong_control = (void *)ccm_acknowledged,
    .undo_cwnd = (void *)ccm_undo_cwnd,
    .init = (void *)ccm_begin,
    .name = "@TCP_NAME@",
};

/* The common part of congestion controls for Linux: the used fields of the kernel's structures (libbpf finds their
 * places in the running kernel), and a log. */
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
#define UINT64_MAX (~0ull)

enum { BPF_MAP_TYPE_SK_STORAGE = 24, BPF_MAP_TYPE_RINGBUF = 27, BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "@NAME@.h"

#ifndef CCM_TCP_NAME
#define CCM_TCP_NAME @TCP_NAME@
#endif
#define CCM_TEXT(name) #name
#define CCM_TEXT_OF(name) CCM_TEXT(name)

enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };
enum { TCP_CA_Disorder = 1, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
enum tcp_ca_event { CA_EVENT_TX_START };
enum { RTT_NS = 100000000 /* assumed until an RTT is measured */ };

#define FOUND __attribute__((preserve_access_index))

struct sock {
    unsigned long sk_pacing_rate, sk_max_pacing_rate;
    uint32_t sk_pacing_status, sk_gso_max_size;
    uint16_t sk_gso_max_segs;
} FOUND;

struct minmax_sample {
    uint32_t t, v;
} FOUND;

struct minmax {
    struct minmax_sample s[3];
} FOUND;

struct inet_connection_sock {
    unsigned char icsk_ca_state : 5;
} FOUND;

struct rate_sample {
    int losses;
} FOUND;

struct ack_sample {
    uint32_t pkts_acked;
} FOUND;

struct tcp_rack {
    uint64_t mstamp;  /* when the segment last acknowledged was sent, us */
    uint32_t rtt_us;  /* its RTT, us */
    uint32_t end_seq; /* its end, as a sequence number */
} FOUND;

struct tcp_sock {
    uint32_t mss_cache, snd_cwnd, snd_cwnd_clamp, snd_ssthresh; /* mss_cache is in bytes, the others are in segments */
    uint32_t data_segs_out, delivered, lost, total_retrans;    /* segments so far */
    uint32_t packets_out, sacked_out, lost_out, retrans_out;   /* segments now */
    uint32_t write_seq, snd_nxt; /* the ends of the bytes written by the application, and of those sent */
    uint32_t snd_una, snd_wnd;   /* the end of the acknowledged bytes; the receiver's window */
    uint32_t srtt_us; /* eighths of us */
    uint32_t tlp_high_seq; /* not 0 while a segment that probes for losses is in flight */
    uint64_t tcp_wstamp_ns, tcp_clock_cache; /* when the next segment may leave; the kernel's latest clock reading */
    uint64_t first_tx_mstamp; /* when the segment last acknowledged was sent, us */
    struct tcp_rack rack;
    struct minmax rtt_min; /* us; ~0 before the first measurement */
} FOUND;

struct tcp_congestion_ops {
    uint32_t (*ssthresh)(struct sock *sk);
    uint32_t (*min_tso_segs)(struct sock *sk);
    void (*cong_control)(struct sock *sk);
    uint32_t (*undo_cwnd)(struct sock *sk);
    void (*set_state)(struct sock *sk, uint8_t new_state);
    void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    char name[16];
    void (*init)(struct sock *sk);
} FOUND;

/* A ccm_record at the end of each step of every flow. Records are dropped while no program reads them. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 18);
} records SEC(".maps");

char _license[] SEC("license") = "Dual MIT/GPL";

static __always_inline void log_step(const struct ccm_sender *sender, uint64_t *logged, uint64_t rate)
{
    struct ccm_record *record;

    if (sender->start == *logged)
        return;
    *logged = sender->start;
    record = bpf_ringbuf_reserve(&records, sizeof *record, 0);
    if (!record)
        return;
    ccm_record(sender, rate, record);
    bpf_ringbuf_submit(record, 0);
}

/* The segments in flight by the kernel's count, which takes back false losses. */
static __always_inline uint64_t in_flight(const struct tcp_sock *tcp)
{
    return ccm_less(tcp->packets_out + tcp->retrans_out, tcp->sacked_out + tcp->lost_out);
}

/* The answers of controllers that do not use these two functions. */
#ifndef CCM_AROUND
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
#endif

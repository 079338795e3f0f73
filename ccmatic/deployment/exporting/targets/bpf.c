/* The controller in @NAME@.h as the Linux congestion control CCM_TCP_NAME. */
#include "paced.h"

SEC("struct_ops")
void BPF_PROG(ccm_begin, struct sock *sk)
{
    begin(sk);
}

SEC("struct_ops")
void BPF_PROG(ccm_acknowledged, struct sock *sk)
{
    ((struct tcp_sock *)sk)->snd_cwnd = WINDOW;
    (void)advance(sk, 0);
}

/* The kernel calls this before it sends. */
SEC("struct_ops")
uint32_t BPF_PROG(ccm_least_segments, struct sock *sk)
{
    return advance(sk, 0);
}

SEC(".struct_ops")
struct tcp_congestion_ops CCM_TCP_NAME = {
    .ssthresh = (void *)ccm_ssthresh,
    .min_tso_segs = (void *)ccm_least_segments,
    .cong_control = (void *)ccm_acknowledged,
    .undo_cwnd = (void *)ccm_undo_cwnd,
    .init = (void *)ccm_begin,
    .name = CCM_TEXT_OF(CCM_TCP_NAME),
};

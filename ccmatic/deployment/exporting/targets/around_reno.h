/* The kernel's Reno, as BPF programs may call it. */
#include "by_window.h"

void tcp_reno_cong_avoid(struct sock *sk, uint32_t ack, uint32_t acked) __ksym;
uint32_t tcp_reno_ssthresh(struct sock *sk) __ksym;

static __always_inline void around_init(struct sock *sk)
{
    unpaced(sk);
}

static __always_inline void around_acknowledged(struct sock *sk, uint32_t ack, int flag,
                                                const struct rate_sample *sample, uint32_t delivered)
{
    (void)flag, (void)sample;
    if (grows(sk, delivered))
        tcp_reno_cong_avoid(sk, ack, delivered);
}

static __always_inline uint32_t around_ssthresh(struct sock *sk)
{
    return tcp_reno_ssthresh(sk);
}

static __always_inline void around_changed(struct sock *sk, uint8_t new_state)
{
    (void)sk, (void)new_state;
}

static __always_inline void around_event(struct sock *sk, enum tcp_ca_event event)
{
    (void)sk, (void)event;
}

static __always_inline void around_measured(struct sock *sk, const struct ack_sample *sample)
{
    (void)sk, (void)sample;
}

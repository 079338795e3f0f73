/* The kernel's CUBIC, as BPF programs may call it. */
#include "by_window.h"

void cubictcp_init(struct sock *sk) __ksym;
void cubictcp_cong_avoid(struct sock *sk, uint32_t ack, uint32_t acked) __ksym;
uint32_t cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
void cubictcp_state(struct sock *sk, uint8_t new_state) __ksym;
void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;

static __always_inline void around_init(struct sock *sk)
{
    cubictcp_init(sk);
    unpaced(sk);
}

static __always_inline void around_acknowledged(struct sock *sk, uint32_t ack, int flag,
                                                const struct rate_sample *sample, uint32_t delivered)
{
    (void)flag, (void)sample;
    if (grows(sk, delivered))
        cubictcp_cong_avoid(sk, ack, delivered);
}

static __always_inline uint32_t around_ssthresh(struct sock *sk)
{
    return cubictcp_recalc_ssthresh(sk);
}

static __always_inline void around_changed(struct sock *sk, uint8_t new_state)
{
    cubictcp_state(sk, new_state);
}

static __always_inline void around_event(struct sock *sk, enum tcp_ca_event event)
{
    cubictcp_cwnd_event(sk, event);
}

static __always_inline void around_measured(struct sock *sk, const struct ack_sample *sample)
{
    cubictcp_acked(sk, sample);
}

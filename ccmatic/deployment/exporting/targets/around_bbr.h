/* The kernel's BBR, as BPF programs may call it (Linux 6.10). It sets both a pacing rate and a window. */
void bbr_init(struct sock *sk) __ksym;
void bbr_main(struct sock *sk, uint32_t ack, int flag, const struct rate_sample *sample) __ksym;
uint32_t bbr_ssthresh(struct sock *sk) __ksym;
uint32_t bbr_undo_cwnd(struct sock *sk) __ksym;
void bbr_set_state(struct sock *sk, uint8_t new_state) __ksym;
void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;

static __always_inline void around_init(struct sock *sk)
{
    bbr_init(sk);
}

static __always_inline void around_acknowledged(struct sock *sk, uint32_t ack, int flag,
                                                const struct rate_sample *sample, uint32_t delivered)
{
    (void)delivered;
    bbr_main(sk, ack, flag, sample);
}

static __always_inline uint32_t around_ssthresh(struct sock *sk)
{
    return bbr_ssthresh(sk);
}

static __always_inline uint32_t around_undo(struct sock *sk, uint32_t before)
{
    (void)before;
    return bbr_undo_cwnd(sk);
}

static __always_inline void around_changed(struct sock *sk, uint8_t new_state)
{
    bbr_set_state(sk, new_state);
}

static __always_inline void around_event(struct sock *sk, enum tcp_ca_event event)
{
    bbr_cwnd_event(sk, event);
}

static __always_inline void around_measured(struct sock *sk, const struct ack_sample *sample)
{
    (void)sk, (void)sample;
}

/* NAME as functions to link against, or to call from other languages. */
#include <stddef.h>

#include "NAME.h"

size_t NAME_size(void);
bool NAME_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet);
void NAME_guessed(struct ccm_sender *s);
bool NAME_fix_step(struct ccm_sender *s, uint64_t step_ns);
void NAME_rtt(struct ccm_sender *s, uint64_t rtt_ns);
void NAME_sent(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes);
void NAME_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes);
void NAME_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes);
void NAME_gave_up(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes);
void NAME_limited(struct ccm_sender *s, uint64_t now_ns);
void NAME_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes);
void NAME_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes);
uint64_t NAME_rate(struct ccm_sender *s, uint64_t now_ns);
uint64_t NAME_step(struct ccm_sender *s, uint64_t sent, uint64_t acked, uint64_t lost, uint64_t last_delay,
                   uint64_t first_delay);
bool NAME_start(struct ccm_sender *s, const char *name, uint64_t value);
bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value);
bool NAME_at_start(const struct ccm_sender *s);
uint64_t NAME_begun_again(const struct ccm_sender *s);
uint64_t NAME_step_ns(const struct ccm_sender *s);
uint64_t NAME_decide(const struct ccm_beliefs *b, uint64_t packet);

/* Bytes that a sender takes. */
size_t NAME_size(void)
{
    return sizeof(struct ccm_sender);
}

bool NAME_init(struct ccm_sender *s, uint64_t now_ns, uint64_t rtt_ns, uint32_t packet)
{
    return ccm_init(s, now_ns, rtt_ns, packet);
}

void NAME_guessed(struct ccm_sender *s)
{
    ccm_guessed(s);
}

bool NAME_fix_step(struct ccm_sender *s, uint64_t step_ns)
{
    return ccm_fix_step(s, step_ns);
}

void NAME_rtt(struct ccm_sender *s, uint64_t rtt_ns)
{
    ccm_rtt(s, rtt_ns);
}

void NAME_sent(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_sent(s, now_ns, bytes);
}

void NAME_acked(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_acked(s, now_ns, sent_ns, bytes);
}

void NAME_lost(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_lost(s, now_ns, sent_ns, bytes);
}

void NAME_gave_up(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_gave_up(s, now_ns, sent_ns, bytes);
}

void NAME_limited(struct ccm_sender *s, uint64_t now_ns)
{
    ccm_limited(s, now_ns);
}

void NAME_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_found(s, now_ns, sent_ns, bytes);
}

void NAME_in_flight(struct ccm_sender *s, uint64_t now_ns, uint64_t bytes)
{
    ccm_in_flight(s, now_ns, bytes);
}

uint64_t NAME_rate(struct ccm_sender *s, uint64_t now_ns)
{
    return ccm_rate(s, now_ns);
}

void NAME_more_jitter(struct ccm_sender *s, uint32_t ns)
{
    ccm_more_jitter(s, ns);
}

uint64_t NAME_next(struct ccm_sender *s, uint64_t now_ns, uint64_t due_ns, uint64_t packets)
{
    return ccm_next(s, now_ns, due_ns, packets);
}

/* For simulators that know what happened in a step: cumulative bytes at its end, and the whole steps of delay of the
 * last and the first byte acknowledged in the last step that had any. Returns the next step's rate, bytes per step. */
uint64_t NAME_step(struct ccm_sender *s, uint64_t sent, uint64_t acked, uint64_t lost, uint64_t last_delay,
                   uint64_t first_delay)
{
    s->sent = sent;
    s->acked = acked;
    s->lost = s->timely = s->excess = lost;
    s->last_delay = last_delay;
    s->first_delay = first_delay;
    ccm_end_step(s);
    return ccm_rate_per_step(s);
}

bool NAME_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    return ccm_start(s, name, value);
}

bool NAME_beliefs(const struct ccm_sender *s, unsigned i, const char **name, uint64_t *value)
{
    return ccm_beliefs(s, i, name, value);
}

/* Whether it sends as the controller does that runs at its start; false if there is none. */
bool NAME_at_start(const struct ccm_sender *s)
{
    return CCM_HAS_START && !s->started;
}

/* How often beliefs were dropped, as they may have been false. */
uint64_t NAME_begun_again(const struct ccm_sender *s)
{
    return s->begun_again;
}

/* The length of a step now: the unit of time of the beliefs. */
uint64_t NAME_step_ns(const struct ccm_sender *s)
{
    return s->step;
}

/* The rate for these beliefs, bytes per step, rounded down. */
uint64_t NAME_decide(const struct ccm_beliefs *b, uint64_t packet)
{
    return ccm_decide(b, packet);
}

/* NAME as functions for linking, or for calls from other languages: the part that all senders have. */
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
void NAME_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes);
uint64_t NAME_rate(struct ccm_sender *s, uint64_t now_ns);
bool NAME_start(struct ccm_sender *s, const char *name, uint64_t value);
uint64_t NAME_step_ns(const struct ccm_sender *s);

/* The size of a sender in bytes. */
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

void NAME_found(struct ccm_sender *s, uint64_t now_ns, uint64_t sent_ns, uint64_t bytes)
{
    ccm_found(s, now_ns, sent_ns, bytes);
}

uint64_t NAME_rate(struct ccm_sender *s, uint64_t now_ns)
{
    return ccm_rate(s, now_ns);
}

bool NAME_start(struct ccm_sender *s, const char *name, uint64_t value)
{
    return ccm_start(s, name, value);
}

/* The current length of a step, which is the unit of time of the beliefs. */
uint64_t NAME_step_ns(const struct ccm_sender *s)
{
    return s->step;
}

/* A token-bucket policer: it passes a packet at once if the bucket has tokens for it, and drops it otherwise. Tokens come
 * at the link's rate until the bucket is full; it is full at first.
 *
 * Where packets wait until their service begins (`at_start`), the bucket holds a packet more than `buffer`: as a link of
 * that rate serves one packet while `buffer` bytes wait. It then counts whole packets, at most `buffer`. */
#include "link.h"

#define LINK_AT_ONCE

struct link {
    struct link_parameters is;
    int segment, ready, full;      /* the rate's segment; a packet has passed; no packet has taken a token yet */
    int64_t at, passed;            /* the instants of the last refill and of the last packet that passed */
    int64_t size;                  /* bytes of the last packet */
    link_wide tokens;              /* in bytes times ticks of the period */
};

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.is = *parameters, .full = 1};
}

static link_wide link_room(const struct link *link)
{
    return ((link_wide)link->is.buffer + (link->is.at_start ? link->size : 0)) * link->is.period;
}

/* Add the tokens that came by `now`, segment by segment of the rate. */
static void link_refill(struct link *link, int64_t now)
{
    const struct link_rate *rates = link->is.rates;
    link_wide room = link_room(link);
    while (rates[link->segment + 1].time <= now) {
        int64_t until = rates[link->segment + 1].time;
        link->tokens += (link_wide)(until - link->at) * rates[link->segment++].bytes;
        link->at = until;
    }
    link->tokens += (link_wide)(now - link->at) * rates[link->segment].bytes;
    link->at = now;
    if (link->full || link->tokens > room) link->tokens = room;
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    (void)flow;
    link->size = size;
    link_refill(link, now);
    link_wide taken = (link_wide)size * link->is.period;
    if (taken > link->tokens) return 0;
    link->tokens -= taken, link->full = 0;
    link->passed = now, link->ready = 1;
    return 1;
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    (void)now;
    if (!link->ready) return 0;
    *outcome = (struct link_outcome){LINK_NEVER, link->passed, link->passed};
    link->ready = 0;
    return 1;
}

/* No packet waits, so that no outcome changes; the bucket keeps its tokens. */
#define LINK_CHANGE
static void link_change(struct link *link, int64_t now, const struct link_parameters *is, int64_t waiting, int64_t last,
                        int64_t size)
{
    (void)waiting, (void)last, (void)size;
    link_refill(link, now);
    link->tokens = link->tokens * is->period / link->is.period;
    link->is = *is;
}

/* The bytes of tokens in the bucket. */
#define LINK_COLUMNS
static void link_columns(struct link *link, int64_t now, int64_t *values)
{
    link_refill(link, now);
    int64_t unit = link->is.at_start && link->size ? link->size : 1;
    link_wide bytes = link->full ? link->is.buffer : link->tokens / ((link_wide)unit * link->is.period) * unit;
    *values = bytes < link->is.buffer ? (int64_t)bytes : link->is.buffer;
}

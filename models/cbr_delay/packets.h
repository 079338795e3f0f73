/* A first-in first-out link whose rate is known in advance, simulated with a virtual clock. It marks packets that arrive
 * above the threshold. */
#include "link.h"

#define LINK_AT_ONCE
#define LINK_CHANGES

/* The service of all accepted packets ends at `end` + `rest`/rate, with the rate of segment `last`. `now` is the current
 * segment. */
struct link {
    struct link_parameters is;
    struct link_rate changed[2]; /* the rate after link_change */
    int64_t end, rest;
    int now, last;
    int64_t ready, spacing;      /* packets with an outcome that is not reported yet, and the ticks between them */
    int64_t next;                /* the time at which the first of them is admitted */
    int64_t marked;              /* whether the packet that was accepted last is marked */
    int64_t flush;               /* the next instant at which the link drops packets that wait, or LINK_NEVER */
    int64_t kept_end, kept_rest; /* `end`, `rest` and `last` of the packets that the link does not drop then */
    int kept_last;
    int64_t dropped;             /* when the link drops the last packet, or LINK_NEVER */
};

static int64_t link_next_flush(const struct link *link)
{
    for (int i = link->now + 1; link->is.rates[i].time != LINK_NEVER; i++)
        if (link->is.rates[i].flush) return link->is.rates[i].time;
    return LINK_NEVER;
}

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.is = *parameters, .dropped = LINK_NEVER};
    link->flush = link_next_flush(link);
}

/* Begin the segments of the rate that began before `now`. */
static void link_begin_segments(struct link *link, int64_t now)
{
    while (link->is.rates[link->now + 1].time < now) {
        if (!link->is.rates[++link->now].flush) continue;
        link->end = link->kept_end, link->rest = link->kept_rest, link->last = link->kept_last;
        link->flush = link_next_flush(link);
    }
}

/* The work that waits at `now`, in bytes times ticks of the period. */
static link_wide link_backlog(const struct link *link, int64_t now)
{
    const struct link_rate *rates = link->is.rates;
    link_wide work = 0;
    if (now > link->end) return 0;
    for (int i = link->now; i < link->last; i++) {
        work += (link_wide)(rates[i + 1].time - now) * rates[i].bytes;
        now = rates[i + 1].time;
    }
    return work + (link_wide)(link->end - now) * rates[link->last].bytes + link->rest;
}

/* Serve `work` more: at the current rate, or in a later segment, whose rate is known. */
static void link_serve(struct link *link, link_wide work)
{
    for (;;) {
        int64_t rate = link->is.rates[link->last].bytes, next = link->is.rates[link->last + 1].time;
        link_wide room = (link_wide)(next - link->end) * rate - link->rest;
        if (work <= room) {
            work += link->rest;
            link->end += work / rate;
            link->rest = work % rate;
            return;
        }
        work -= room;
        link->end = next, link->rest = 0, link->last++;
    }
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    link_wide work = (link_wide)size * link->is.period;
    link_wide served = link->is.at_start ? size : 0; /* a packet in service does not wait */
    (void)flow;
    link_begin_segments(link, now);
    int64_t buffer = link->is.rates[link->now].buffer ? link->is.rates[link->now].buffer : link->is.buffer;
    link_wide backlog = link_backlog(link, now) + work;
    if (backlog > (buffer + served) * link->is.period) return 0;
    link->marked = backlog > (link->is.threshold + served) * link->is.period;
    if (link->end < now) {
        link->end = now, link->rest = 0, link->last = link->now;
        /* In an outage no token comes: the service of a packet begins after it. */
        while (link->is.at_start && !link->is.rates[link->last].bytes) link->end = link->is.rates[++link->last].time + 1;
    }
    link->next = link->end + (link->rest > 0);
    link_serve(link, work);
    if (!link->is.at_start) link->next = link->end + (link->rest > 0);
    link->dropped = link->next > link->flush ? link->flush + 1 : LINK_NEVER;
    if (link->dropped == LINK_NEVER) link->kept_end = link->end, link->kept_rest = link->rest, link->kept_last = link->last;
    link->ready = 1;
    return 1;
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    (void)now;
    if (!link->ready) return 0;
    *outcome = (struct link_outcome){link->dropped, link->next, link->next, link->marked};
    link->ready--;
    link->next += link->spacing;
    return 1;
}

/* Packets have one size. The packet in service is served at the new rate from its beginning. */
#define LINK_CHANGE
static void link_change(struct link *link, int64_t now, const struct link_parameters *is, int64_t waiting, int64_t last,
                        int64_t size)
{
    link->is = *is;
    link->changed[0] = is->rates[0], link->changed[1].time = LINK_NEVER;
    link->is.rates = link->changed;
    link->now = link->last = 0;
    link->marked = 0; /* a packet that waits keeps its first mark */
    link->flush = link->dropped = LINK_NEVER;
    link->ready = waiting, link->spacing = (int64_t)((link_wide)size * is->period / is->rates[0].bytes);
    link->next = last + link->spacing > now + 1 ? last + link->spacing : now + 1;
    link->end = link->next + waiting * link->spacing, link->rest = 0;
}

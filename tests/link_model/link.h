/* A link, packet by packet: a bottleneck that takes `tx` nanoseconds for each, a drop-tail buffer before it, and behind
 * it a delay of R_m (the packet's own tx within) and up to D more. All is in whole nanoseconds and packets. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packets in flight, numbered modulo RING. */
enum { RING = 1 << 14 };

struct random {
    uint64_t state;
};

static uint64_t any(struct random *r)
{
    r->state ^= r->state << 13, r->state ^= r->state >> 7, r->state ^= r->state << 17;
    return r->state * UINT64_C(0x2545F4914F6CDD1D) >> 1;
}

/* From low to high, both included. */
static uint64_t between(struct random *r, uint64_t low, uint64_t high)
{
    return low + any(r) % (high - low + 1);
}

/* As many of each magnitude. */
static uint64_t spread(struct random *r, uint64_t low, uint64_t high)
{
    unsigned doublings = 0;
    while (low << doublings <= high / 2)
        doublings++;
    const uint64_t from = low << between(r, 0, doublings);
    return between(r, from, from <= high / 2 ? 2 * from - 1 : high);
}

/* How packets are delayed behind the bottleneck, beyond R_m: by what D allows, never more. */
enum jitter { NO_JITTER, ALL_OF_IT, AT_RANDOM, TOGETHER, DELAYED_ACKS, JITTERS };

struct packet {
    uint64_t number, sent, start, at; /* at: when it is acknowledged, or found to be lost */
    bool dropped, acked, marked; /* marked: the sender has said that it is lost */
};

struct link {
    uint64_t tx, R_m, D, buffer; /* buffer: packets that wait, beyond the one that is served */
    uint64_t late;               /* of D, by how much packets may leave after their sender is told: tx at most */
    enum jitter jitter;
    bool reorders, timed; /* timed: packets leave by a timer */
    struct random random;
    uint64_t free, last_at, period; /* when it is idle again; the latest acknowledgement; of those that come together */
    struct packet ring[RING];
    uint64_t next, begun; /* packets sent; accepted packets before `begun` have begun to be served (or were dropped) */
    uint64_t waiting;     /* accepted packets from `begun` on */
    uint64_t heap[RING], pending; /* numbers of accepted packets that are to be acknowledged, first first */
};

static struct packet *of(struct link *l, uint64_t number)
{
    return &l->ring[number % RING];
}

static bool sooner(struct link *l, uint64_t a, uint64_t b)
{
    const uint64_t x = of(l, a)->at, y = of(l, b)->at;
    return x < y || (x == y && a < b);
}

static void expect(struct link *l, uint64_t number)
{
    uint64_t i = l->pending++;
    for (; i && sooner(l, number, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
        l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = number;
}

/* The packet to be acknowledged first, no longer expected. */
static struct packet *arrived(struct link *l)
{
    const uint64_t first = l->heap[0], last = l->heap[--l->pending];
    uint64_t i = 0, child;
    while ((child = 2 * i + 1) < l->pending) {
        child += child + 1 < l->pending && sooner(l, l->heap[child + 1], l->heap[child]);
        if (!sooner(l, l->heap[child], last))
            break;
        l->heap[i] = l->heap[child];
        i = child;
    }
    l->heap[i] = last;
    of(l, first)->acked = true;
    return of(l, first);
}

/* Lets what has begun to be served by `now` no longer wait. */
static void serve_until(struct link *l, uint64_t now)
{
    for (; l->begun < l->next; l->begun++) {
        const struct packet *p = of(l, l->begun);
        if (!p->dropped && p->start > now)
            return;
        l->waiting -= !p->dropped;
    }
}

static uint64_t delay(struct link *l, uint64_t least)
{
    switch (l->jitter) {
    case ALL_OF_IT:
        return l->D;
    case AT_RANDOM:
        return between(&l->random, 0, l->D);
    case TOGETHER:
        return (l->period - least % l->period) % l->period; /* a period is D at most */
    case DELAYED_ACKS:
        return l->next % 2 ? 0 : l->D; /* in order, the one before waits for the next or D */
    default:
        return 0;
    }
}

/* Whether a packet is accepted that comes now, and was sent before by its sender's clock. */
static bool offer(struct link *l, uint64_t sent, uint64_t now)
{
    struct packet *p = of(l, l->next);
    serve_until(l, now);
    *p = (struct packet){.number = l->next, .sent = sent, .dropped = l->free > now && l->waiting >= l->buffer};
    if (p->dropped) {
        l->next++;
        return false;
    }
    p->start = l->free > now ? l->free : now;
    l->free = p->start + l->tx;
    p->at = p->start + l->R_m;
    p->at += delay(l, p->at);
    if (!l->reorders && p->at < l->last_at)
        p->at = l->last_at;
    l->last_at = p->at;
    l->waiting++;
    expect(l, l->next++);
    return true;
}

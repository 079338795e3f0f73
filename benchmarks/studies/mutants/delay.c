/* A sender that keeps its queueing delay near 40 ms, with a filter of R_m over 5 s: the clean base of mutants. */
#include "controller.h"

#include <stdlib.h>

#define EXPIRES 5000000000LL
#define TARGET 40000000LL

struct controller {
    int64_t packet, window, recovery, least, seen, next, round;
    int searching;
};

struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    struct controller *c = malloc(sizeof *c);
    if (c) *c = (struct controller){packet, 10 * packet, -1, INT64_MAX, 0, INT64_MAX, -1, 1};
    return c;
}

void controller_acked(struct controller *c, const struct controller_event *event)
{
    if (event->rtt < c->next) c->next = event->rtt;
    if (event->rtt <= c->least) {
        c->least = event->rtt;
        c->seen = event->now;
        c->next = INT64_MAX;
    } else if (event->now - c->seen > EXPIRES) {
        c->least = c->next;
        c->seen = event->now;
        c->next = INT64_MAX;
    }
    if (event->app_limited || event->sent <= c->recovery) return;
    int64_t queued = event->rtt - c->least;
    if (c->searching && queued < TARGET) {
        c->window += event->bytes;
    } else if (event->sent >= c->round) { /* once per round trip */
        c->searching = 0;
        c->round = event->now;
        c->window += queued < TARGET ? c->packet : -c->packet;
    }
    if (c->window < 2 * c->packet) c->window = 2 * c->packet;
}

void controller_lost(struct controller *c, const struct controller_event *event)
{
    if (event->sent <= c->recovery) return;
    c->recovery = event->now;
    c->searching = 0;
    c->window = c->window / 2 > 2 * c->packet ? c->window / 2 : 2 * c->packet;
}

int64_t controller_window(const struct controller *c) { return c->window; }

void controller_free(struct controller *c) { free(c); }

/* NewReno as in RFC 9002, appendix B, with HyStart++ left out: the clean base of mutants. */
#include "controller.h"

#include <stdlib.h>
#include <string.h>

struct controller {
    int64_t packet, window, threshold, recovery, spare;
};

struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    struct controller *c = malloc(sizeof *c);
    if (c) *c = (struct controller){packet, 10 * packet, INT64_MAX, -1, 0};
    return c;
}

static void reduce(struct controller *c, int64_t now, int64_t sent)
{
    int64_t least = 2 * c->packet;
    if (sent <= c->recovery) return;
    c->recovery = now;
    c->window = c->window / 2;
    if (c->window < least) c->window = least;
    c->threshold = c->window;
}

void controller_acked(struct controller *c, const struct controller_event *event)
{
    if (event->sent <= c->recovery) return;
    if (event->app_limited) return;
    if (c->window < c->threshold) {
        c->window += event->bytes;
    } else {
        c->spare += event->bytes;
        if (c->spare >= c->window) {
            c->spare -= c->window;
            c->window += c->packet;
        }
    }
}

void controller_lost(struct controller *c, const struct controller_event *event)
{
    reduce(c, event->now, event->sent);
    if (event->persistent) c->window = 2 * c->packet;
}

void controller_marked(struct controller *c, const struct controller_event *event)
{
    reduce(c, event->now, event->sent);
}

int64_t controller_window(const struct controller *c) { return c->window; }

void controller_free(struct controller *c) { free(c); }

/* CUBIC as in RFC 9438, with floating-point numbers and without HyStart++: the clean base of mutants. */
#include "controller.h"

#include <math.h>
#include <stdlib.h>

#define BETA 0.7
#define C 0.4

struct controller {
    int64_t packet, recovery, epoch, quiet; /* quiet: since when the application limits the sender; -1 if it does not */
    double window, threshold, max, reno;    /* in packets */
};

struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    struct controller *c = malloc(sizeof *c);
    if (c) *c = (struct controller){packet, -1, -1, -1, 10, 1e9, 0, 0};
    return c;
}

static void reduce(struct controller *c, const struct controller_event *event)
{
    if (event->sent <= c->recovery) return;
    c->recovery = event->now;
    c->max = c->window < c->max ? c->window * (1 + BETA) / 2 : c->window;
    c->window = fmax(2, c->window * BETA);
    c->threshold = c->reno = c->window;
    c->epoch = -1;
}

void controller_acked(struct controller *c, const struct controller_event *event)
{
    if (event->app_limited) {
        if (c->quiet < 0) c->quiet = event->now;
        return;
    }
    if (c->quiet >= 0 && c->epoch >= 0) c->epoch += event->now - c->quiet; /* RFC 9438, 5.8 */
    c->quiet = -1;
    if (event->sent <= c->recovery) return;
    double packets = (double)event->bytes / c->packet;
    if (c->window < c->threshold) {
        c->window += packets;
        return;
    }
    if (c->epoch < 0) c->epoch = event->now;
    double t = (event->now - c->epoch + event->smooth_rtt) / 1e9, k = cbrt(fmax(0, c->max * (1 - BETA) / C));
    double target = C * pow(t - k, 3) + c->max;
    c->reno += 3 * (1 - BETA) / (1 + BETA) * packets / c->window;
    target = fmin(fmax(target, c->window), 1.5 * c->window);
    c->window = fmax(c->reno, c->window + (target - c->window) * packets / c->window);
}

void controller_limited(struct controller *c, const struct controller_event *event)
{
    if (c->quiet < 0) c->quiet = event->now;
}

void controller_lost(struct controller *c, const struct controller_event *event)
{
    reduce(c, event);
    if (event->persistent) c->window = 2;
}

void controller_marked(struct controller *c, const struct controller_event *event) { reduce(c, event); }

int64_t controller_window(const struct controller *c) { return (int64_t)(c->window * c->packet); }

void controller_free(struct controller *c) { free(c); }

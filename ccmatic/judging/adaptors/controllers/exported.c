/* NAME, exported by ccmatic, with the functions of controller.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "NAME.h"
#include "controller.h"
#include "draw.h"

enum {
    FIRST_RTT_NS = 100000000, /* assumed until an RTT is measured */
    LOOK_NS = 1000000,        /* the time after which a sender of rate 0 asks again */
};

/* The rate that is wanted in an envelope: the highest, the lowest, or a new one in each step. */
enum choice { UPPER, LOWER, DRAWN };

struct controller {
    struct ccm_sender sender;
    bool begun, any; /* any: a packet has left, the last one at `last` */
    uint32_t packet;
    uint64_t seed, now, last, marked, step;
    enum choice choice;
};

struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    struct controller *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->packet = (uint32_t)packet, c->seed = seed;
    c->choice = !strcmp(name, "lower") ? LOWER : !strcmp(name, "drawn") ? DRAWN : UPPER;
    return c;
}

/* Begin with the first event, because a flow may start late. */
static struct ccm_sender *at(struct controller *c, int64_t now)
{
    c->now = (uint64_t)now;
    if (c->begun) return &c->sender;
    c->begun = true;
    if (!ccm_init(&c->sender, c->now, FIRST_RTT_NS, c->packet)) abort();
    ccm_guessed(&c->sender);
    return &c->sender;
}

void controller_sent(struct controller *c, const struct controller_event *event)
{
    ccm_sent(at(c, event->now), (uint64_t)event->now, (uint64_t)event->bytes);
    c->any = true, c->last = (uint64_t)event->now;
}

void controller_acked(struct controller *c, const struct controller_event *event)
{
    ccm_rtt(at(c, event->now), (uint64_t)event->rtt);
    ccm_acked(&c->sender, (uint64_t)event->now, (uint64_t)event->sent, (uint64_t)event->bytes);
}

/* Persistent congestion stands for a timeout. */
void controller_lost(struct controller *c, const struct controller_event *event)
{
    struct ccm_sender *s = at(c, event->now);
    if (event->persistent) ccm_gave_up(s, (uint64_t)event->now, (uint64_t)event->sent, (uint64_t)event->bytes);
    else ccm_lost(s, (uint64_t)event->now, (uint64_t)event->sent, (uint64_t)event->bytes);
}

#ifdef CCM_ECN
void controller_marked(struct controller *c, const struct controller_event *event)
{
    c->marked += (uint64_t)event->bytes;
    ccm_marked(at(c, event->now), (uint64_t)event->now, c->marked);
}
#endif

#ifdef ALONE_LIMITED
void controller_limited(struct controller *c, const struct controller_event *event)
{
    ccm_limited(at(c, event->now), (uint64_t)event->now);
}
#endif

int64_t controller_window(const struct controller *c)
{
    struct controller *changed = (struct controller *)c;
    uint64_t window = ccm_window(at(changed, (int64_t)c->now), c->now);
    return window > CONTROLLER_NO_WINDOW ? CONTROLLER_NO_WINDOW : (int64_t)window;
}

/* Choose a rate in an envelope, once in each step. */
static void choose(struct controller *c, uint64_t now)
{
#if CCM_ENVELOPE
    struct ccm_sender *s = &c->sender;
    uint64_t wanted = c->choice == LOWER ? 0 : CCM_MOST_WANTED;
    ccm_advance(s, now + 1);
    if (c->choice == DRAWN && c->step != s->start + 1) {
        uint64_t least = ccm_allowed(s, 0), room = ccm_less(ccm_allowed(s, CCM_MOST), least);
        c->step = s->start + 1;
        wanted = ccm_scaled(least + draw_below(&c->seed, room + 1), 1000000000, s->step, true);
    }
    ccm_want(s, now, wanted);
#else
    (void)c, (void)now;
#endif
}

/* Packets keep the distance of the current rate. The sender asks again at the end of a step, which may change it. If
 * the controller has only a window, the sender paces by itself. */
int64_t controller_departure(const struct controller *constant, int64_t now, int64_t bytes)
{
    struct controller *c = (struct controller *)constant;
    struct ccm_sender *s = at(c, now);
#if defined CCM_PACED && !CCM_PACED
    (void)s, (void)bytes;
    return 0;
#endif
    choose(c, (uint64_t)now);
    uint64_t rate = ccm_rate(s, (uint64_t)now);
    uint64_t end = ccm_at_least(s->start + s->step, (uint64_t)now) + 1;
    if (!rate) return now + LOOK_NS;
    if (!c->any) return now;
    return (int64_t)ccm_at_most(end, c->last + ccm_scaled((uint64_t)bytes, 1000000000, rate, true));
}

void controller_free(struct controller *c)
{
    free(c);
}

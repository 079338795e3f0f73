/* An emulated link's decision on each packet, from the instant of the packet's arrival, in integers only.
 *
 * emulator.c decides by this file while it runs. replay.c decides again from the log. LINK is the packets.h of the
 * model whose links are emulated. The configuration has the order of read_config, as link.py writes it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include LINK
#include "draw.h"

#define SECOND INT64_C(1000000000)
#define NEVER INT64_MAX

typedef __int128 wide;

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* ---- the configuration ---- */

enum pattern { NONE, UNIFORM, AGGREGATION, OWN };

/* A point of the curves of a schedule, in bytes, and their growth from there: by `admitting` and `serving` bytes in
 * `length` ns. */
struct point { int64_t time, admitted, served, length, admitting, serving; };

/* A point of a flow's own box: it releases a packet admitted at one instant of its period at another. */
struct hold { int64_t let, released; };

static struct config {
    int64_t bucket, tokens[2]; /* of a policer in front of the bottleneck */
    int64_t duration, buffer, threshold, propagation, jitter, pattern, port, rates_count, points_count;
    int64_t opportunities_count, opportunity; /* the bytes of one opportunity */
    int64_t flows_count, *propagations; /* for flows with their own propagation */
    int64_t period, boxes_count; /* for the flows' own boxes */
    int64_t changed, extra; /* packets that the link admits after `changed` propagate for `extra` ns longer */
    int64_t own_count, *own;     /* numbers of the link's model */
    uint64_t seed;
    struct link_rate *rates;
    struct point *points;
    int64_t *opportunities;
    struct hold **boxes;
} config;

static struct link bottleneck;

static uint64_t below(uint64_t bound)
{
    return draw_below(&config.seed, bound);
}

/* The numbers that a link draws. */
static int64_t draw(void *context, int64_t least, int64_t most)
{
    (void)context;
    return least + (int64_t)below(most - least + 1);
}

static int64_t number(void)
{
    int64_t value;
    if (scanf("%" SCNd64, &value) != 1) die("the configuration is incomplete");
    return value;
}

static void read_boxes(void)
{
    config.period = number();
    config.boxes_count = number();
    config.boxes = calloc(config.boxes_count + 1, sizeof(struct hold *));
    if (!config.boxes) die("no memory");
    for (int i = 0; i < config.boxes_count; i++) {
        int64_t count = number();
        struct hold *box = config.boxes[i] = calloc(count, sizeof(struct hold));
        if (!box) die("no memory");
        for (int j = 0; j < count; j++) box[j].let = number(), box[j].released = number();
    }
}

static void read_config(void)
{
    config.duration = number();
    config.buffer = number();
    config.threshold = number();
    config.propagation = number();
    config.jitter = number();
    config.pattern = number();
    config.seed = number();
    config.port = number();
    config.changed = number();
    config.extra = number();
    config.rates_count = number();
    config.points_count = number();
    config.opportunities_count = number();
    config.opportunity = number();
    config.bucket = number();
    config.tokens[0] = number(), config.tokens[1] = number();
    config.flows_count = number();
    config.propagations = calloc(config.flows_count + 1, sizeof(int64_t));
    config.rates = calloc(config.rates_count + 1, sizeof(struct link_rate));
    config.points = calloc(config.points_count + 1, sizeof(struct point));
    config.opportunities = calloc(config.opportunities_count + 1, sizeof(int64_t));
    if (!config.rates || !config.points || !config.opportunities || !config.propagations) die("no memory");
    for (int i = 0; i < config.flows_count; i++) config.propagations[i] = number();
    for (int i = 0; i < config.rates_count; i++) {
        config.rates[i].time = number();
        config.rates[i].bytes = number();
        config.rates[i].buffer = number();
        config.rates[i].flush = number();
    }
    config.rates[config.rates_count].time = NEVER;
    for (int i = 0; i < config.points_count; i++) {
        struct point *p = &config.points[i];
        p->time = number(), p->admitted = number(), p->served = number();
        p->length = number(), p->admitting = number(), p->serving = number();
    }
    config.points[config.points_count].time = NEVER;
    for (int i = 0; i < config.opportunities_count; i++) config.opportunities[i] = number();
    read_boxes();
    config.own_count = number();
    config.own = calloc(config.own_count + 1, sizeof(int64_t));
    if (!config.own) die("no memory");
    for (int i = 0; i < config.own_count; i++) config.own[i] = number();
#ifndef LINK_AT_ONCE
    die("its link does not decide on a packet when the packet arrives");
#endif
    link_init(&bottleneck, &(struct link_parameters){.rates = config.rates, .period = 8 * SECOND, .buffer = config.buffer,
        .threshold = config.threshold, .bucket = config.bucket, .tokens = {config.tokens[0], config.tokens[1]}, .draw = draw, .own = config.own});
}

/* ---- the link's decisions: in integers only ---- */

struct decision { int lost; int64_t admitted, planned; int marked; };

/* Return when a flow's own box releases a packet: in proportion between two points, and after the last point from
 * the first again. */
static int64_t release_of_own(int64_t admitted, int flow)
{
    if (flow < 0 || flow >= config.boxes_count) return admitted;
    int64_t within = admitted % config.period;
    const struct hold *hold = config.boxes[flow];
    while (hold[1].let <= within) hold++;
    wide gain = hold[1].released - hold->released;
    return admitted - within + hold->released + (int64_t)(gain * (within - hold->let) / (hold[1].let - hold->let));
}

/* Return when the box releases an admitted packet, before propagation. */
static int64_t release_of(int64_t admitted, int flow)
{
    static int64_t last;
    int64_t wish = admitted;
    switch (config.pattern) {
    case UNIFORM:
        wish += below(config.jitter + 1);
        if (wish > last) last = wish;
        return last;
    case AGGREGATION: /* the end of a batch, which holds all packets admitted since the batch before */
        while (last < admitted) last += 1 + below(config.jitter);
        return last;
    case OWN:
        return release_of_own(admitted, flow);
    default:
        return wish;
    }
}

static struct decision by_link(int64_t now, int64_t size, int flow)
{
    struct link_outcome outcome;
    if (!link_offer(&bottleneck, now, size, flow)) return (struct decision){1, -1, -1, 0};
    if (!link_next(&bottleneck, now, &outcome)) die("this link does not decide at once when it admits a packet");
    if (outcome.dropped != LINK_NEVER) return (struct decision){1, -1, -1, 0};
    return (struct decision){0, outcome.admitted, release_of(outcome.admitted, flow), outcome.marked != 0};
}

/* Return the time of the n-th delivery opportunity (n starts at 1). After the last one the opportunities repeat. */
static int64_t instant(int64_t n)
{
    int64_t count = config.opportunities_count, cycle = (n - 1) / count;
    return cycle * config.opportunities[count - 1] + config.opportunities[(n - 1) % count];
}

static struct decision by_opportunities(int64_t now, int64_t size, int flow)
{
    static int64_t passed, taken; /* bytes, of past opportunities and up to the last accepted packet */
    while (instant(passed + 1) <= now) passed++;
    int64_t over = passed * config.opportunity;
    if (taken < over) taken = over;
    if (taken - over + size > config.buffer) return (struct decision){1, -1, -1, 0};
    taken += size;
    int64_t admitted = instant((taken + config.opportunity - 1) / config.opportunity);
    return (struct decision){0, admitted, release_of(admitted, flow), 0};
}

/* Return the first whole ns at which a curve reaches `position`. It starts at `value` and grows by `gain` in
 * `length` ns. */
static int64_t reached(const struct point *p, int64_t value, int64_t gain, int64_t position)
{
    if (position <= value) return p->time;
    return p->time + (int64_t)(((wide)(position - value) * p->length + gain - 1) / gain);
}

static struct decision by_curves(int64_t now, int64_t size)
{
    static int64_t accepted;
    static const struct point *here, *admitting, *serving;
    if (!here) here = admitting = serving = config.points;
    while (here[1].time <= now) here++;
    wide free = (wide)(here->admitted + config.buffer - accepted - size) * here->length;
    if (free + (wide)here->admitting * (now - here->time) < 0) return (struct decision){1, -1, -1, 0};
    accepted += size;
    while (admitting[1].time != NEVER && admitting[1].admitted < accepted) admitting++;
    while (serving[1].time != NEVER && serving[1].served < accepted) serving++;
    int64_t admitted = reached(admitting, admitting->admitted, admitting->admitting, accepted);
    int64_t served = reached(serving, serving->served, serving->serving, accepted);
    return (struct decision){0, admitted < now ? now : admitted, served < now ? now : served, 0};
}

static struct decision decide(int64_t now, int64_t size, int flow)
{
    if (config.points_count) return by_curves(now, size);
    struct decision decision = config.opportunities_count ? by_opportunities(now, size, flow) : by_link(now, size, flow);
    if (!decision.lost && decision.admitted > config.changed) decision.planned += config.extra;
    if (!decision.lost)
        decision.planned += flow >= 0 && flow < config.flows_count ? config.propagations[flow] : config.propagation;
    return decision;
}

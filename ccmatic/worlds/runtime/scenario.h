/* Reads the scenario of a path: whole numbers and a few names, as scenario.py writes them. */
#ifndef CCM_SCENARIO_H
#define CCM_SCENARIO_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum { MOST_FLOWS = 64, MOST_EVENTS = 1 << 16, MOST_TOKEN = 4096 };

enum event_kind { HOLD, RATE, RTT, LOSS, IDLE, LIMIT, ACKS, OUTAGE, BUFFER, EVENT_KINDS };

/* The numbers mean what scenario.py says of the kind. */
struct event { int64_t kind, at, a, b, c; };

/* `stop` is -1 if the flow never stops. If the path hosts its sender, this is `name` in a shared library. */
struct scenario_flow { int64_t start, stop, rtt; int hosted; char library[MOST_TOKEN], name[MOST_TOKEN]; };

struct scenario {
    char controller[MOST_TOKEN];
    int64_t duration, rate, rtt, buffer, jitter, packet, spacing, threshold;
    int64_t policer, bucket, own[3], acks_packets, acks_delay;
    uint64_t seed;
    int flows_count;
    struct scenario_flow flows[MOST_FLOWS];
    int64_t events_count;
    struct event *events;
};

static char error[4 * MOST_TOKEN];

static int fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, sizeof error, format, arguments);
    va_end(arguments);
    return -1;
}

static int read_word(FILE *file, char *word)
{
    return fscanf(file, "%4095s", word) == 1 ? 0 : fail("scenario.txt: it ends too early");
}

/* Read `count` whole numbers of at least -1. */
static int read_numbers(FILE *file, int count, int64_t *numbers)
{
    for (int i = 0; i < count; i++) {
        char word[MOST_TOKEN], *end;
        if (read_word(file, word)) return -1;
        numbers[i] = strtoll(word, &end, 10);
        if (*end || numbers[i] < -1 || numbers[i] > INT64_C(1) << 62)
            return fail("scenario.txt: found '%s'; expected a whole number", word);
    }
    return 0;
}

/* Read a number of parts, from `least` to `most`. */
static int read_count(FILE *file, const char *parts, int64_t least, int64_t most, int64_t *count)
{
    if (read_numbers(file, 1, count)) return -1;
    if (*count >= least && *count <= most) return 0;
    return fail("scenario.txt: found %" PRId64 " %s; expected %" PRId64 " to %" PRId64, *count, parts, least, most);
}

static int read_flow(FILE *file, struct scenario_flow *flow)
{
    int64_t numbers[4];
    if (read_numbers(file, 4, numbers) || read_word(file, flow->library) || read_word(file, flow->name)) return -1;
    flow->start = numbers[0], flow->stop = numbers[1], flow->rtt = numbers[2], flow->hosted = numbers[3] == 1;
    return 0;
}

static int check_event(const struct scenario *s, const struct event *event, int64_t before)
{
    int64_t kind = event->kind, flow = kind == IDLE ? event->b : kind == LIMIT ? event->c : 0;
    int64_t held = kind == HOLD ? event->a : kind == ACKS ? event->b : 0;
    if (kind < 0 || kind >= EVENT_KINDS || event->at < before)
        return fail("scenario.txt: found an event of kind %" PRId64 " at %" PRId64 " ns; expected a kind below %d, and "
                    "events in order of time", kind, event->at, EVENT_KINDS);
    if (flow >= s->flows_count) return fail("scenario.txt: found flow %" PRId64 "; it has %d", flow, s->flows_count);
    if (held > s->jitter) return fail("scenario.txt: a hold of %" PRId64 " ns is longer than D", held);
    if (event->a < 0 || event->b < 0 || event->c < 0 || (kind == LIMIT && !event->b) ||
        ((kind == RATE || kind == RTT || kind == BUFFER) && !event->a))
        return fail("scenario.txt: an event of kind %" PRId64 " lacks a number above 0", kind);
    return 0;
}

static int read_events(FILE *file, struct scenario *s)
{
    int64_t count, before = 0, n[5];
    if (read_count(file, "events", 0, MOST_EVENTS, &count)) return -1;
    s->events = calloc(count + 1, sizeof(struct event));
    if (!s->events) abort();
    for (; s->events_count < count; s->events_count++) {
        struct event *event = &s->events[s->events_count];
        if (read_numbers(file, 5, n)) return -1;
        *event = (struct event){n[0], n[1], n[2], n[3], n[4]};
        if (check_event(s, event, before)) return -1;
        before = event->at;
    }
    return 0;
}

static int read_path(FILE *file, struct scenario *s)
{
    char word[MOST_TOKEN];
    int64_t n[8];
    if (read_word(file, word)) return -1;
    if (strcmp(word, "ccmatic-path-1")) return fail("scenario.txt: found '%s'; expected ccmatic-path-1", word);
    if (read_word(file, s->controller) || read_numbers(file, 8, n)) return -1;
    s->duration = n[0], s->rate = n[1], s->rtt = n[2], s->buffer = n[3], s->jitter = n[4];
    s->packet = n[5], s->spacing = n[6], s->seed = (uint64_t)n[7];
    if (read_numbers(file, 8, n)) return -1;
    s->threshold = n[0] < 0 ? LINK_NEVER : n[0], s->policer = n[1], s->bucket = n[2];
    s->own[0] = n[3], s->own[1] = n[4], s->own[2] = n[5] * s->packet;
    s->acks_packets = n[6], s->acks_delay = n[7];
    if (s->duration < 1 || s->rate < 1 || s->rtt < 1 || s->packet < 1 || s->own[1] < 1 || s->acks_packets < 1)
        return fail("scenario.txt: the path lacks a number above 0");
    return s->buffer < s->packet ? fail("scenario.txt: its buffer does not hold a packet") : 0;
}

/* Read a scenario. Returns 0, or -1 if it is none; then `error` says why. */
static int read_scenario(FILE *file, struct scenario *s)
{
    int64_t count;
    if (read_path(file, s) || read_count(file, "flows", 1, MOST_FLOWS, &count)) return -1;
    for (; s->flows_count < count; s->flows_count++)
        if (read_flow(file, &s->flows[s->flows_count])) return -1;
    return read_events(file, s);
}

#endif

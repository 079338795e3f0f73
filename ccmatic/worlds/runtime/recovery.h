/* A sender and a receiver of RFC 9002 around one congestion controller, for paths in virtual time.
 *
 * The receiver acknowledges every so many packets, at once after a gap or a mark, and otherwise after a delay. The
 * sender detects losses by 3 later packets or by 9/8 RTT, sends probes after a timeout, notices persistent congestion,
 * and paces. Acknowledgements report all packets that have arrived, so a later one makes up for a lost one. Packets
 * never overtake each other on these paths, so no detected loss is spurious.
 */
#ifndef CCM_RECOVERY_H
#define CCM_RECOVERY_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"
#include "path.h"

enum {
    RECOVERY_THRESHOLD = 3,          /* later packets that prove a loss (RFC 9002, 6.1.1) */
    RECOVERY_GRANULARITY = 1000000,  /* ns (6.1.2) */
    RECOVERY_FIRST_RTT = 333000000,  /* ns (6.2.2) */
    RECOVERY_PERSISTENT = 3,         /* timeouts (7.6.1) */
    RECOVERY_BURST = 10,             /* packets that leave at once after a pause (7.7, and 7.2) */
    RECOVERY_PROBES = 2,             /* packets after a timeout (6.2.4) */
    RECOVERY_LONGEST_BACKOFF = 16,   /* doublings of a timeout */
    RECOVERY_ACK = 60,               /* bytes of an acknowledgement */
    RECOVERY_CREDIT = 1 << 15,       /* packets in flight that the receiver's flow control allows */
};

typedef void recovery_report(struct controller *, const struct controller_event *);

/* The functions of a controller's library; NULL for those that it lacks. */
struct recovery_library {
    struct controller *(*create)(const char *name, uint64_t seed, int64_t packet);
    recovery_report *sent;
    recovery_report *acked;
    recovery_report *lost;
    recovery_report *marked;
    recovery_report *limited;
    int64_t (*window)(const struct controller *);
    int64_t (*departure)(const struct controller *, int64_t now, int64_t bytes);
    void (*destroy)(struct controller *);
};

/* The calls by which a flow reaches its path. */
struct recovery_port {
    struct path *path;
    int flow;
    int64_t (*send)(struct path *, int64_t now, int flow, int64_t size, int ect);
    int64_t (*reply)(struct path *, int64_t now, int flow, int64_t size);
    int64_t (*offered)(const struct path *, int64_t now, int flow);
    void (*sample)(struct path *, int64_t now, int flow, int64_t window, int64_t in_flight, int64_t rtt, int64_t rate,
                   int flags);
};

enum recovery_state { RECOVERY_OUT, RECOVERY_ACKED, RECOVERY_LOST };

/* Packets have sequence numbers within their flow; `number` is that of the path. */
struct recovery_packet { int64_t number, sent; int32_t size; int8_t state; };
struct recovery_arrival { int64_t sequence, time, marked; }; /* marked: the bytes marked so far */
struct recovery_ack { int64_t number, arrivals, delay; };    /* it reports the first so many arrivals */

/* A queue in an array. Entries have numbers that grow. Those before `head` are forgotten, and `base` is the first one
 * that the array still has. */
#define RECOVERY_QUEUE(type) struct { type *entries; int64_t base, head, end, room; }

struct recovery {
    struct recovery_port port;
    const struct recovery_library *library;
    struct controller *controller;
    int64_t packet, acks_packets, acks_delay;
    int active;

    /* the receiver */
    RECOVERY_QUEUE(struct recovery_arrival) arrivals; /* from the first that no acknowledgement has reported */
    RECOVERY_QUEUE(struct recovery_ack) acks;         /* on their way */
    int64_t unreported, ack_due, expected, marked;

    /* the sender */
    RECOVERY_QUEUE(struct recovery_packet) packets; /* from the first that is neither acknowledged nor lost */
    int64_t largest; /* the largest acknowledged; -1 before the first */
    int64_t marks_reported;
    int64_t in_flight, written, again; /* `again`: lost bytes to send again */
    int64_t latest_rtt, least_rtt, smooth_rtt, variation, first_sample;
    int64_t last_sent, loss_time, timeouts, probes;
    int64_t run_next, run_sent; /* losses in a row: the next packet's number, and when the first of them left */
    int64_t departure, pace;    /* the next try to send, and the pacer's own clock */
    int64_t now;                /* the instant of the last call of recovery_run */
    int flooded;                /* the path takes no more packets */
    int limited;                /* the application had less to send than the window allowed */
};

#define RECOVERY_NEVER INT64_MAX

/* Append an entry. If the array is full, its forgotten entries make room, or the array grows. */
#define RECOVERY_PUSH(queue, value)                                                                                    \
    do {                                                                                                               \
        if ((queue).end - (queue).base == (queue).room) {                                                              \
            int64_t kept_ = (queue).end - (queue).head;                                                                \
            if (kept_)                                                                                                 \
                memmove((queue).entries, (queue).entries + ((queue).head - (queue).base),                              \
                        kept_ * sizeof *(queue).entries);                                                              \
            (queue).base = (queue).head;                                                                               \
            if (2 * kept_ >= (queue).room) {                                                                           \
                (queue).room = (queue).room ? 2 * (queue).room : 1024;                                                 \
                (queue).entries = realloc((queue).entries, (queue).room * sizeof *(queue).entries);                    \
                if (!(queue).entries) abort();                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        (queue).entries[(queue).end++ - (queue).base] = (value);                                                       \
    } while (0)
#define RECOVERY_AT(queue, i) ((queue).entries[(i) - (queue).base])

static inline int64_t recovery_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t recovery_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Read the functions of a shared library. Returns 0, or -1 with a reason. */
static inline int recovery_load(struct recovery_library *library, const char *file, const char **reason)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return *reason = dlerror(), -1;
    *(void **)&library->create = dlsym(handle, "controller_new");
    *(void **)&library->sent = dlsym(handle, "controller_sent");
    *(void **)&library->acked = dlsym(handle, "controller_acked");
    *(void **)&library->lost = dlsym(handle, "controller_lost");
    *(void **)&library->marked = dlsym(handle, "controller_marked");
    *(void **)&library->limited = dlsym(handle, "controller_limited");
    *(void **)&library->window = dlsym(handle, "controller_window");
    *(void **)&library->departure = dlsym(handle, "controller_departure");
    *(void **)&library->destroy = dlsym(handle, "controller_free");
    *reason = "it lacks controller_new, controller_acked, controller_lost, controller_window or controller_free";
    return library->create && library->acked && library->lost && library->window && library->destroy ? 0 : -1;
}

/* Prepare a flow. Returns 0, or -1 if the library has no controller of this name. */
static inline int recovery_open(struct recovery *r, const struct recovery_library *library, const char *name,
                                uint64_t seed, struct recovery_port port, int64_t packet, int64_t acks_packets,
                                int64_t acks_delay)
{
    *r = (struct recovery){.port = port, .library = library, .packet = packet, .acks_packets = acks_packets,
                           .acks_delay = acks_delay, .ack_due = RECOVERY_NEVER, .largest = -1,
                           .smooth_rtt = RECOVERY_FIRST_RTT, .variation = RECOVERY_FIRST_RTT / 2, .first_sample = -1,
                           .loss_time = RECOVERY_NEVER, .departure = RECOVERY_NEVER, .run_next = -1};
    r->controller = library->create(name, seed, packet);
    return r->controller ? 0 : -1;
}

static inline void recovery_close(struct recovery *r)
{
    if (r->controller) r->library->destroy(r->controller);
    free(r->packets.entries), free(r->arrivals.entries), free(r->acks.entries);
    *r = (struct recovery){0};
}

/* Report an event to the controller, if its library has this function. */
static inline void recovery_tell(struct recovery *r, recovery_report *function, int64_t now, int64_t sent,
                                 int64_t bytes, int persistent)
{
    if (!function) return;
    function(r->controller, &(struct controller_event){now, sent, bytes, r->latest_rtt, r->least_rtt, r->smooth_rtt,
                                                       r->in_flight, r->limited, persistent});
}

/* ---- the receiver ---- */

static inline void recovery_acknowledge(struct recovery *r, int64_t now)
{
    int64_t number = r->port.reply(r->port.path, now, r->port.flow, RECOVERY_ACK);
    struct recovery_ack ack = {number, r->arrivals.end, now - RECOVERY_AT(r->arrivals, r->arrivals.end - 1).time};
    r->unreported = 0, r->ack_due = RECOVERY_NEVER;
    if (number >= 0) RECOVERY_PUSH(r->acks, ack);
}

/* A data packet arrives. Packets between it and the one before are lost. */
static inline void recovery_arrive(struct recovery *r, int64_t now, const struct path_event *event)
{
    int64_t sequence = r->expected;
    while (RECOVERY_AT(r->packets, sequence).number != event->packet) sequence++;
    int at_once = sequence != r->expected || event->marked;
    r->expected = sequence + 1;
    if (event->marked) r->marked += event->size;
    RECOVERY_PUSH(r->arrivals, ((struct recovery_arrival){sequence, now, r->marked}));
    if (++r->unreported >= r->acks_packets || at_once) recovery_acknowledge(r, now);
    else r->ack_due = recovery_least(r->ack_due, now + r->acks_delay);
}

/* ---- the sender: acknowledgements and losses ---- */

static inline void recovery_measure(struct recovery *r, int64_t now, int64_t sent, int64_t delay)
{
    int64_t rtt = r->latest_rtt = now - sent;
    if (r->first_sample < 0) {
        r->first_sample = now, r->least_rtt = r->smooth_rtt = rtt, r->variation = rtt / 2;
        return;
    }
    r->least_rtt = recovery_least(r->least_rtt, rtt);
    delay = recovery_least(delay, r->acks_delay);
    if (rtt - delay >= r->least_rtt) rtt -= delay;
    r->variation = (3 * r->variation + llabs(r->smooth_rtt - rtt)) / 4;
    r->smooth_rtt = (7 * r->smooth_rtt + rtt) / 8;
}

static inline int64_t recovery_timeout(const struct recovery *r)
{
    return r->smooth_rtt + recovery_most(4 * r->variation, RECOVERY_GRANULARITY) + r->acks_delay;
}

/* Count a loss among losses in a row. Returns whether they establish persistent congestion. */
static inline int recovery_persists(struct recovery *r, int64_t sequence, int64_t sent)
{
    int counts = r->first_sample >= 0 && sent > r->first_sample;
    if (sequence != r->run_next || r->run_sent < 0) r->run_sent = counts ? sent : -1;
    r->run_next = sequence + 1;
    if (r->run_sent < 0 || sent - r->run_sent <= RECOVERY_PERSISTENT * recovery_timeout(r)) return 0;
    r->run_sent = sent;
    return 1;
}

/* Detect losses, report each to the controller, and plan when the next one would be detected. */
static inline void recovery_detect(struct recovery *r, int64_t now)
{
    int64_t rtt = recovery_most(r->latest_rtt, r->smooth_rtt);
    int64_t delay = recovery_most(rtt + rtt / 8, RECOVERY_GRANULARITY);
    r->loss_time = RECOVERY_NEVER;
    for (; r->packets.head < r->largest; r->packets.head++) {
        struct recovery_packet *packet = &RECOVERY_AT(r->packets, r->packets.head);
        if (packet->state != RECOVERY_OUT) continue;
        if (now - packet->sent < delay && r->packets.head + RECOVERY_THRESHOLD > r->largest) {
            r->loss_time = packet->sent + delay;
            return;
        }
        packet->state = RECOVERY_LOST, r->in_flight -= packet->size, r->again += packet->size;
        int persistent = recovery_persists(r, r->packets.head, packet->sent);
        recovery_tell(r, r->library->lost, now, packet->sent, packet->size, persistent);
    }
}

static inline void recovery_sample(struct recovery *r, int64_t now)
{
    int64_t window = r->library->window(r->controller);
    r->port.sample(r->port.path, now, r->port.flow, window < CONTROLLER_NO_WINDOW ? window : -1, r->in_flight,
                   r->latest_rtt ? r->latest_rtt : -1, -1, r->limited ? PATH_APPLICATION_LIMITED : 0);
}

/* An acknowledgement arrives. Earlier ones that are not taken yet are lost. */
static inline void recovery_take(struct recovery *r, int64_t now, const struct path_event *event)
{
    while (RECOVERY_AT(r->acks, r->acks.head).number != event->packet) r->acks.head++;
    struct recovery_ack ack = RECOVERY_AT(r->acks, r->acks.head++);
    if (ack.arrivals <= r->arrivals.head) return;
    struct recovery_arrival last = RECOVERY_AT(r->arrivals, ack.arrivals - 1);
    int64_t bytes = 0, sent = RECOVERY_AT(r->packets, last.sequence).sent;
    for (; r->arrivals.head < ack.arrivals; r->arrivals.head++) {
        struct recovery_packet *packet = &RECOVERY_AT(r->packets, RECOVERY_AT(r->arrivals, r->arrivals.head).sequence);
        packet->state = RECOVERY_ACKED, r->in_flight -= packet->size, bytes += packet->size;
    }
    r->largest = last.sequence, r->timeouts = r->probes = 0;
    recovery_measure(r, now, sent, ack.delay);
    if (last.marked > r->marks_reported)
        recovery_tell(r, r->library->marked, now, sent, last.marked - r->marks_reported, 0);
    r->marks_reported = last.marked;
    recovery_tell(r, r->library->acked, now, sent, bytes, 0);
    recovery_sample(r, now); /* the window before a decrease, if this acknowledgement reveals losses */
    recovery_detect(r, now);
    recovery_sample(r, now);
}

/* ---- the sender: data ---- */

/* Return the bytes that the next packet would have; 0 if there are no data. */
static inline int64_t recovery_ready(const struct recovery *r, int64_t now)
{
    int64_t offered = r->port.offered(r->port.path, now, r->port.flow);
    return offered == INT64_MAX ? r->packet : recovery_least(r->packet, offered - r->written + r->again);
}

static inline void recovery_send(struct recovery *r, int64_t now, int64_t size)
{
    int64_t number = r->port.send(r->port.path, now, r->port.flow, size, r->library->marked != NULL);
    int64_t again = recovery_least(r->again, size);
    if (number < 0) {
        r->active = 0, r->flooded = 1;
        return;
    }
    r->again -= again;
    if (r->port.offered(r->port.path, now, r->port.flow) != INT64_MAX) r->written += size - again;
    RECOVERY_PUSH(r->packets, ((struct recovery_packet){number, now, (int32_t)size, RECOVERY_OUT}));
    r->in_flight += size, r->last_sent = now, r->limited = 0;
    recovery_tell(r, r->library->sent, now, now, size, 0);
}

/* Return the earliest instant at which a packet may leave. */
static inline int64_t recovery_departure(const struct recovery *r, int64_t now, int64_t size)
{
    int64_t departure = r->library->departure ? r->library->departure(r->controller, now, size) : 0;
    return departure ? departure : r->pace;
}

/* Move the pacer's clock: after a pause a burst may leave, then 5/4 window per smooth RTT. */
static inline void recovery_pace(struct recovery *r, int64_t now, int64_t size, int64_t window)
{
    int64_t gap = (int64_t)((__int128)size * r->smooth_rtt * 4 / (5 * (__int128)recovery_most(window, 1)));
    r->pace = recovery_most(r->pace, now - (RECOVERY_BURST - 1) * gap) + gap;
}

static inline void recovery_probe(struct recovery *r, int64_t now)
{
    for (; r->probes; r->probes--) {
        int64_t ready = recovery_ready(r, now);
        if (!ready) r->again += ready = recovery_least(r->packet, r->in_flight);
        recovery_send(r, now, ready);
    }
}

/* Send what the window, the pacer and the application allow. */
static inline void recovery_transmit(struct recovery *r, int64_t now)
{
    r->departure = RECOVERY_NEVER;
    if (!r->active) return;
    recovery_probe(r, now);
    while (r->active) {
        int64_t size = recovery_ready(r, now);
        if (!size) break;
        int64_t departure = recovery_departure(r, now, size);
        int64_t window = recovery_least(r->library->window(r->controller), RECOVERY_CREDIT * r->packet);
        if (r->in_flight + size > window) {
            /* Without packets in flight no acknowledgement comes: ask again later. */
            if (!r->in_flight) r->departure = now + RECOVERY_GRANULARITY;
            r->limited = 0;
            return;
        }
        if (departure > now) {
            r->departure = departure, r->limited = 0;
            return;
        }
        recovery_send(r, now, size);
        recovery_pace(r, now, size, window);
    }
    if (!r->limited) {
        r->limited = 1;
        recovery_tell(r, r->library->limited, now, r->last_sent, 0, 0);
    }
}

/* ---- the interface ---- */

/* Process an event of the path. */
static inline void recovery_process(struct recovery *r, int64_t now, const struct path_event *event)
{
    switch (event->kind) {
    case PATH_START: r->active = 1, r->pace = INT64_MIN / 2; break;
    case PATH_STOP: r->active = 0; break;
    case PATH_DATA: recovery_arrive(r, now, event); break;
    case PATH_REPLY: recovery_take(r, now, event); break;
    default: break;
    }
}

/* Return when the sender probes, if no acknowledgement comes. */
static inline int64_t recovery_probe_time(const struct recovery *r)
{
    if (!r->in_flight || !r->active) return RECOVERY_NEVER;
    return r->last_sent + (recovery_timeout(r) << recovery_least(r->timeouts, RECOVERY_LONGEST_BACKOFF));
}

/* Return the instant of the next timer. A timeout that became shorter may already be over. */
static inline int64_t recovery_due(const struct recovery *r)
{
    int64_t timer = r->loss_time != RECOVERY_NEVER ? r->loss_time : recovery_probe_time(r);
    return recovery_most(r->now, recovery_least(recovery_least(timer, r->departure), r->ack_due));
}

/* Fire the timers that are due, and send. */
static inline void recovery_run(struct recovery *r, int64_t now)
{
    r->now = now;
    if (r->ack_due <= now) recovery_acknowledge(r, now);
    if (r->loss_time <= now) {
        recovery_detect(r, now);
        recovery_sample(r, now);
    } else if (r->loss_time == RECOVERY_NEVER && recovery_probe_time(r) <= now) {
        r->timeouts++, r->probes = RECOVERY_PROBES;
    }
    recovery_transmit(r, now);
}

#endif

/* The path of path.h. Everything follows in integers from the scenario and from the calls of the subject. */
#include "path.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "recovery.h"
#include "scenario.h"
#include "stage.h"

#define NEVER INT64_MAX
#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)

/* The most packets, replies and samples of a run. */
#define MOST_RECORDS (INT64_C(1) << 24)

/* What becomes of a packet. */
enum loss { KEPT, FULL, CHANCE, POLICED, PLANNED };

/* ---- records, as recording.py reads them ---- */

struct packet { int64_t arrival, admitted, released; int32_t size; int16_t flow; int8_t lost, marked; };
struct reply { int64_t sent, arrived; int32_t size; int16_t flow, pad; };
struct sample { int64_t time, window, in_flight, rtt, rate; int16_t flow, flags; int32_t pad; };

#define ARRAY(type) struct { type *entries; int64_t count, room; }
#define APPEND(array, value)                                                                                           \
    do {                                                                                                               \
        if ((array).count == (array).room) {                                                                           \
            (array).room = (array).room ? 2 * (array).room : 256;                                                      \
            (array).entries = realloc((array).entries, (array).room * sizeof *(array).entries);                        \
            if (!(array).entries) abort();                                                                             \
        }                                                                                                              \
        (array).entries[(array).count++] = (value);                                                                    \
    } while (0)

/* ---- a path ---- */

/* From `start` on an application offers bits per second; 0 if it pauses, and -1 if it offers without limit. It has
 * offered `before` bytes by then in limited phases. */
struct phase { int64_t start, bits, before; };

struct turn { int64_t time; int32_t kind; };

struct flow {
    const struct scenario_flow *is;
    int subject;                      /* its number among the subject's flows */
    ARRAY(struct phase) phases;
    ARRAY(struct turn) turns;         /* starts, stops, and what its application does, in order of time */
    ARRAY(int64_t) data, replies;     /* numbers of the packets and replies that arrive, in order */
    int64_t turn, arrived, answered;  /* the next of each */
    int64_t let, received, reported;  /* when the box, the receiver and the sender had the last one; -1 before */
    int64_t sampled, window;          /* the last sample */
    struct recovery_library library;
    struct recovery sender;           /* of a hosted flow */
};

struct path {
    char *folder, *fault;
    struct scenario is;
    uint64_t seed;
    int subjects_count, subjects[MOST_FLOWS];
    struct flow flows[MOST_FLOWS];
    ARRAY(struct link_rate) rates;
    struct link_rate tokens[2];
    void *link, *bucket_link;
    const struct stage *stage;
    int64_t now, let;                 /* `let`: when the box released the last packet */
    int64_t hold, growth, losing;     /* the next events of the box, of R_m and of losses */
    int64_t extra, to_lose;           /* the growth of R_m so far; packets still to lose */
    int64_t acks;                     /* the first event of acknowledgements that is not over */
    ARRAY(struct packet) packets;
    ARRAY(struct reply) replies;
    ARRAY(struct sample) samples;
};

const char *path_error(void)
{
    return error;
}

/* A wrong call: remember the first one of the run. */
static int misuse(struct path *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, sizeof error, format, arguments);
    va_end(arguments);
    if (!path->fault) path->fault = strdup(error);
    return -1;
}

/* ---- the rates of the link ---- */

/* Return the rate and the buffer from `time` on. */
static struct link_rate rate_at(const struct path *path, int64_t time)
{
    struct link_rate now = {time, path->is.rate, path->is.buffer, 0};
    int64_t outage = 0;
    for (int64_t i = 0; i < path->is.events_count && path->is.events[i].at <= time; i++) {
        const struct event *event = &path->is.events[i];
        if (event->kind == RATE) now.bytes = event->a;
        if (event->kind == BUFFER) now.buffer = event->a;
        if (event->kind == OUTAGE && event->at + event->a > outage) outage = event->at + event->a;
    }
    if (time < outage) now.bytes = 0;
    return now;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sort instants, and drop doubles. */
static int64_t sorted(int64_t *times, int64_t count)
{
    int64_t kept = 0;
    qsort(times, count, sizeof *times, by_time);
    for (int64_t i = 0; i < count; i++)
        if (!kept || times[kept - 1] != times[i]) times[kept++] = times[i];
    return kept;
}

static void plan_rates(struct path *path)
{
    ARRAY(int64_t) times = {NULL, 0, 0};
    APPEND(times, 0);
    for (int64_t i = 0; i < path->is.events_count; i++) {
        const struct event *event = &path->is.events[i];
        if (event->kind == RATE || event->kind == BUFFER || event->kind == OUTAGE) APPEND(times, event->at);
        if (event->kind == OUTAGE) APPEND(times, event->at + event->a);
    }
    times.count = sorted(times.entries, times.count);
    for (int64_t i = 0; i < times.count; i++) APPEND(path->rates, rate_at(path, times.entries[i]));
    APPEND(path->rates, ((struct link_rate){.time = LINK_NEVER}));
    free(times.entries);
}

static int64_t draw(void *context, int64_t least, int64_t most)
{
    return least + (int64_t)draw_below(&((struct path *)context)->seed, (uint64_t)(most - least + 1));
}

static int open_links(struct path *path)
{
    plan_rates(path);
    path->stage = path->is.own[0] ? &stage_chance : &stage_drop_tail;
    path->link = path->stage->open(&(struct link_parameters){
        .rates = path->rates.entries, .period = 8 * SECOND, .buffer = path->is.buffer, .threshold = path->is.threshold,
        .draw = draw, .context = path, .own = path->is.own});
    if (!path->link) abort();
    if (!path->is.policer) return 0;
    path->tokens[0] = (struct link_rate){0, path->is.policer, 0, 0};
    path->tokens[1] = (struct link_rate){.time = LINK_NEVER};
    path->bucket_link = stage_bucket.open(&(struct link_parameters){
        .rates = path->tokens, .period = 8 * SECOND, .buffer = path->is.bucket, .threshold = LINK_NEVER});
    if (!path->bucket_link) abort();
    return 0;
}

/* ---- applications ---- */

/* Whether an event is about the application of a flow. */
static int limits(const struct event *event, int number)
{
    return (event->kind == IDLE && event->b == number) || (event->kind == LIMIT && event->c == number);
}

/* Return the bits per second that an application offers from `time` on; -1 without limit. The lowest limit counts. */
static int64_t offers_at(const struct path *path, int number, int64_t time)
{
    int64_t bits = -1;
    for (int64_t i = 0; i < path->is.events_count && path->is.events[i].at <= time; i++) {
        const struct event *event = &path->is.events[i];
        if (!limits(event, number) || event->at + event->a <= time) continue;
        int64_t limit = event->kind == IDLE ? 0 : event->b;
        if (bits < 0 || limit < bits) bits = limit;
    }
    return bits;
}

/* Return the bytes that an application has offered in limited phases. It writes whole packets. */
static int64_t offered_in(const struct path *path, const struct phase *phase, int64_t now)
{
    __int128 bytes = (__int128)(now - phase->start) * (phase->bits > 0 ? phase->bits : 0) / (8 * SECOND);
    return phase->before + (int64_t)(bytes / path->is.packet) * path->is.packet;
}

/* Wake the sender as often as a limited application offers a packet, but at most every ms. */
static void plan_offers(struct path *path, struct flow *flow, const struct phase *phase, int64_t end)
{
    int64_t gap = phase->bits > 0 ? (int64_t)((__int128)path->is.packet * 8 * SECOND / phase->bits) + 1 : NEVER;
    if (gap < MS) gap = MS;
    APPEND(flow->turns, ((struct turn){phase->start, PATH_APPLICATION}));
    for (int64_t time = phase->start; gap < end - time;) {
        time += gap;
        APPEND(flow->turns, ((struct turn){time, PATH_APPLICATION}));
    }
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->kind - y->kind;
}

static void plan_flow(struct path *path, int number)
{
    struct flow *flow = &path->flows[number];
    ARRAY(int64_t) times = {NULL, 0, 0};
    APPEND(times, 0);
    for (int64_t i = 0; i < path->is.events_count; i++) {
        const struct event *event = &path->is.events[i];
        if (!limits(event, number)) continue;
        APPEND(times, event->at);
        APPEND(times, event->at + event->a);
    }
    times.count = sorted(times.entries, times.count);
    for (int64_t i = 0, before = 0; i < times.count; i++) {
        struct phase phase = {times.entries[i], offers_at(path, number, times.entries[i]), before};
        int64_t end = i + 1 < times.count ? times.entries[i + 1] : path->is.duration;
        APPEND(flow->phases, phase);
        before = offered_in(path, &phase, end);
        if (times.count > 1) plan_offers(path, flow, &phase, end);
    }
    free(times.entries);
    APPEND(flow->turns, ((struct turn){flow->is->start, PATH_START}));
    if (flow->is->stop >= 0) APPEND(flow->turns, ((struct turn){flow->is->stop, PATH_STOP}));
    qsort(flow->turns.entries, flow->turns.count, sizeof(struct turn), by_turn);
}

static int64_t offered(const struct path *path, int64_t now, int number)
{
    const struct flow *flow = &path->flows[number];
    const struct phase *phase = &flow->phases.entries[flow->phases.count - 1];
    while (phase->start > now && phase > flow->phases.entries) phase--;
    return phase->bits < 0 ? INT64_MAX : offered_in(path, phase, now);
}

/* ---- data packets ---- */

/* Return when the box releases a packet: at the end of a hold, or at least `spacing` after the flow's last one; in
 * order, and at most D after the packet's admission. */
static int64_t let(struct path *path, struct flow *flow, int64_t admitted)
{
    int64_t wish = admitted;
    while (path->hold < path->is.events_count) {
        const struct event *event = &path->is.events[path->hold];
        if (event->kind == HOLD && admitted < event->at) break;
        if (event->kind == HOLD && admitted < event->at + event->a) {
            wish = event->at + event->a;
            break;
        }
        path->hold++;
    }
    if (flow->let >= 0 && wish < flow->let + path->is.spacing) wish = flow->let + path->is.spacing;
    if (wish > admitted + path->is.jitter) wish = admitted + path->is.jitter;
    if (wish < path->let) wish = path->let;
    return path->let = flow->let = wish;
}

/* Return R_m of a flow for a packet that leaves the bottleneck at an instant. */
static int64_t propagation(struct path *path, const struct flow *flow, int64_t admitted)
{
    for (; path->growth < path->is.events_count; path->growth++) {
        const struct event *event = &path->is.events[path->growth];
        if (event->at >= admitted) break;
        if (event->kind == RTT) path->extra = event->a - path->is.rtt;
    }
    return flow->is->rtt + path->extra > 0 ? flow->is->rtt + path->extra : 0;
}

/* Whether the scenario loses a packet that arrives now. */
static int planned_loss(struct path *path, int64_t now)
{
    for (; path->losing < path->is.events_count && path->is.events[path->losing].at <= now; path->losing++)
        if (path->is.events[path->losing].kind == LOSS) path->to_lose += path->is.events[path->losing].a;
    if (!path->to_lose) return 0;
    path->to_lose--;
    return 1;
}

static enum loss pass(struct path *path, int64_t now, int64_t size, int number, struct stage_outcome *outcome)
{
    if (planned_loss(path, now)) return PLANNED;
    if (path->bucket_link && stage_bucket.offer(path->bucket_link, now, size, number).lost) return POLICED;
    *outcome = path->stage->offer(path->link, now, size, number);
    return outcome->lost ? outcome->by_chance ? CHANCE : FULL : KEPT;
}

static int64_t send(struct path *path, int64_t now, int number, int64_t size, int ect)
{
    struct flow *flow = &path->flows[number];
    struct stage_outcome outcome = {.admitted = -1};
    struct packet packet = {now, -1, -1, (int32_t)size, (int16_t)number, 0, 0};
    packet.lost = (int8_t)pass(path, now, size, number, &outcome);
    if (packet.lost == KEPT) {
        packet.admitted = outcome.admitted;
        packet.marked = outcome.marked ? ect ? 1 : 2 : 0;
        int64_t released = let(path, flow, packet.admitted) + propagation(path, flow, packet.admitted);
        if (released < flow->received) released = flow->received; /* R_m may shrink */
        flow->received = released;
        if (released < path->is.duration) {
            packet.released = released;
            APPEND(flow->data, path->packets.count);
        }
    }
    APPEND(path->packets, packet);
    return path->packets.count - 1;
}

/* ---- replies ---- */

static int64_t reply(struct path *path, int64_t now, int number, int64_t size)
{
    struct flow *flow = &path->flows[number];
    struct reply reply = {now, now, (int32_t)size, (int16_t)number, 0};
    for (; path->acks < path->is.events_count; path->acks++) {
        const struct event *event = &path->is.events[path->acks];
        if (event->kind != ACKS || event->at + event->a <= now) continue;
        if (event->at > now) break;
        if (event->b) reply.arrived = event->at + ((now - event->at) / event->b + 1) * event->b;
        else if (event->c && (path->replies.count + 1) % event->c == 0) reply.arrived = -1;
        break;
    }
    if (reply.arrived >= 0 && reply.arrived < flow->reported) reply.arrived = flow->reported;
    if (reply.arrived >= 0) flow->reported = reply.arrived;
    if (reply.arrived >= path->is.duration) reply.arrived = -1;
    if (reply.arrived >= 0) APPEND(flow->replies, path->replies.count);
    APPEND(path->replies, reply);
    return path->replies.count - 1;
}

/* ---- events ---- */

/* Return the instant of a flow's next event, and its kind. */
static int64_t next_of(const struct path *path, const struct flow *flow, int32_t *kind)
{
    int64_t next = path->is.duration;
    if (flow->turn < flow->turns.count && flow->turns.entries[flow->turn].time < next)
        next = flow->turns.entries[flow->turn].time, *kind = flow->turns.entries[flow->turn].kind;
    if (flow->arrived < flow->data.count) {
        int64_t time = path->packets.entries[flow->data.entries[flow->arrived]].released;
        if (time < next) next = time, *kind = PATH_DATA;
    }
    if (flow->answered < flow->replies.count) {
        int64_t time = path->replies.entries[flow->replies.entries[flow->answered]].arrived;
        if (time < next) next = time, *kind = PATH_REPLY;
    }
    return next < path->is.duration ? next : NEVER;
}

static void take(struct path *path, int number, int32_t kind, struct path_event *event)
{
    struct flow *flow = &path->flows[number];
    *event = (struct path_event){.kind = kind, .flow = flow->is->hosted ? number : flow->subject, .packet = -1};
    if (kind == PATH_DATA) {
        event->packet = flow->data.entries[flow->arrived++];
        event->size = path->packets.entries[event->packet].size;
        event->marked = path->packets.entries[event->packet].marked == 1;
    } else if (kind == PATH_REPLY) {
        event->packet = flow->replies.entries[flow->answered++];
        event->size = path->replies.entries[event->packet].size;
    } else {
        flow->turn++;
    }
}

/* ---- samples ---- */

static void sample(struct path *path, int64_t now, int number, int64_t window, int64_t in_flight, int64_t rtt,
                   int64_t rate, int flags)
{
    struct flow *flow = &path->flows[number];
    if (flow->sampled >= 0 && now - flow->sampled < MS && window == flow->window) return;
    flow->sampled = now, flow->window = window;
    APPEND(path->samples, ((struct sample){now, window, in_flight, rtt, rate, (int16_t)number, (int16_t)flags, 0}));
}

/* ---- hosted flows ---- */

/* Run the hosted flows up to an instant. What they do later changes nothing for packets that the link has accepted. */
static void advance(struct path *path, int64_t now)
{
    while (path->subjects_count < path->is.flows_count) {
        int64_t first = NEVER;
        int32_t kind = 0, kind_of_first = 0;
        struct flow *next = NULL;
        for (struct flow *flow = path->flows; flow < path->flows + path->is.flows_count; flow++) {
            if (!flow->is->hosted) continue;
            int64_t event = next_of(path, flow, &kind), due = recovery_due(&flow->sender);
            int64_t time = event <= due ? event : due;
            if (time < first) first = time, next = flow, kind_of_first = event <= due ? kind : -1;
        }
        if (first > now || first >= path->is.duration) return;
        struct path_event event;
        if (kind_of_first >= 0) {
            take(path, (int)(next - path->flows), kind_of_first, &event);
            recovery_process(&next->sender, first, &event);
        }
        recovery_run(&next->sender, first);
    }
}

/* Move the clock of the path. */
static int move(struct path *path, int64_t now, int flow)
{
    if (now < path->now)
        return misuse(path, "time runs backwards, from %" PRId64 " to %" PRId64 " ns", path->now, now);
    if (flow < 0 || flow >= path->subjects_count)
        return misuse(path, "there is no flow %d; the subject has %d", flow, path->subjects_count);
    path->now = now;
    advance(path, now);
    return 0;
}

/* ---- the interface ---- */

static void release(struct path *path)
{
    for (int i = 0; i < path->is.flows_count; i++) {
        struct flow *flow = &path->flows[i];
        recovery_close(&flow->sender);
        free(flow->phases.entries), free(flow->turns.entries), free(flow->data.entries), free(flow->replies.entries);
    }
    if (path->link) path->stage->close(path->link);
    if (path->bucket_link) stage_bucket.close(path->bucket_link);
    free(path->rates.entries), free(path->is.events), free(path->packets.entries), free(path->replies.entries);
    free(path->samples.entries), free(path->folder), free(path->fault), free(path);
}

/* Prepare a flow: number it, or load the controller of its sender. */
static int open_flow(struct path *path, int number)
{
    struct flow *flow = &path->flows[number];
    const struct scenario_flow *is = flow->is = &path->is.flows[number];
    struct recovery_port port = {path, number, send, reply, offered, sample};
    const char *reason;
    flow->let = flow->received = flow->reported = flow->sampled = flow->window = -1;
    plan_flow(path, number);
    if (!is->hosted) {
        flow->subject = path->subjects_count;
        path->subjects[path->subjects_count++] = number;
        return 0;
    }
    if (recovery_load(&flow->library, is->library, &reason)) return fail("cannot load %s: %s", is->library, reason);
    if (recovery_open(&flow->sender, &flow->library, is->name, path->is.seed + number, port, path->is.packet,
                      path->is.acks_packets, path->is.acks_delay))
        return fail("%s has no controller '%s'", is->library, is->name);
    return 0;
}

static int open_all(struct path *path)
{
    char name[MOST_TOKEN];
    snprintf(name, sizeof name, "%s/scenario.txt", path->folder);
    FILE *file = fopen(name, "r");
    int failed = file ? read_scenario(file, &path->is) : fail("cannot read %s", name);
    if (file) fclose(file);
    if (failed) return -1;
    path->seed = path->is.seed;
    for (int i = 0; i < path->is.flows_count; i++)
        if (open_flow(path, i)) return -1;
    if (!path->subjects_count) return fail("scenario.txt: no flow is the subject's");
    return open_links(path);
}

struct path *path_open(const char *folder)
{
    struct path *path = calloc(1, sizeof *path);
    if (!path || !(path->folder = strdup(folder))) abort();
    if (!open_all(path)) return path;
    release(path);
    return NULL;
}

int64_t path_end(const struct path *path)
{
    return path->is.duration;
}

int64_t path_flows(const struct path *path)
{
    return path->subjects_count;
}

int64_t path_seed(const struct path *path)
{
    return (int64_t)path->is.seed;
}

int64_t path_packet(const struct path *path)
{
    return path->is.packet;
}

const char *path_controller(const struct path *path)
{
    return path->is.controller;
}

int64_t path_acks_packets(const struct path *path)
{
    return path->is.acks_packets;
}

int64_t path_acks_delay(const struct path *path)
{
    return path->is.acks_delay;
}

int64_t path_next(const struct path *path)
{
    int64_t next = NEVER;
    int32_t kind;
    for (int i = 0; i < path->subjects_count; i++) {
        int64_t time = next_of(path, &path->flows[path->subjects[i]], &kind);
        if (time < next) next = time;
    }
    return next;
}

int path_receive(struct path *path, int64_t now, struct path_event *event)
{
    int64_t next = NEVER;
    int32_t kind = 0, first = 0;
    int flow = -1;
    if (move(path, now, 0)) return 0;
    for (int i = 0; i < path->subjects_count; i++) {
        int64_t time = next_of(path, &path->flows[path->subjects[i]], &kind);
        if (time < next) next = time, first = kind, flow = path->subjects[i];
    }
    if (next > now) return 0;
    take(path, flow, first, event);
    return 1;
}

int64_t path_send(struct path *path, int64_t now, int flow, int64_t size, int ect)
{
    if (move(path, now, flow)) return -1;
    if (size < 1 || size > path->is.packet)
        return misuse(path, "a packet of %" PRId64 " bytes; expected 1 to %" PRId64, size, path->is.packet);
    if (path->packets.count >= MOST_RECORDS) return fail("more than %" PRId64 " packets", MOST_RECORDS);
    return send(path, now, path->subjects[flow], size, ect);
}

int64_t path_reply(struct path *path, int64_t now, int flow, int64_t size)
{
    if (move(path, now, flow)) return -1;
    if (size < 1 || size > 65535) return misuse(path, "a reply of %" PRId64 " bytes; expected 1 to 65535", size);
    if (path->replies.count >= MOST_RECORDS) return fail("more than %" PRId64 " replies", MOST_RECORDS);
    return reply(path, now, path->subjects[flow], size);
}

int64_t path_offered(const struct path *path, int64_t now, int flow)
{
    return flow < 0 || flow >= path->subjects_count ? 0 : offered(path, now, path->subjects[flow]);
}

void path_sample(struct path *path, int64_t now, int flow, int64_t window, int64_t in_flight, int64_t rtt, int64_t rate,
                 int flags)
{
    if (move(path, now, flow) || path->samples.count >= MOST_RECORDS) return;
    sample(path, now, path->subjects[flow], window, in_flight, rtt, rate, flags);
}

static int write_file(const struct path *path, const char *name, const void *bytes, size_t count)
{
    char file_name[MOST_TOKEN];
    snprintf(file_name, sizeof file_name, "%s/%s", path->folder, name);
    FILE *file = fopen(file_name, "wb");
    if (file && (!count || fwrite(bytes, 1, count, file) == count) && !fclose(file)) return 0;
    return fail("cannot write %s", file_name);
}

int path_close(struct path *path, const char *failure)
{
    int bad = 0;
    if (!path->fault && !failure) advance(path, path->is.duration - 1);
    bad |= write_file(path, "packets.bin", path->packets.entries, path->packets.count * sizeof(struct packet));
    bad |= write_file(path, "replies.bin", path->replies.entries, path->replies.count * sizeof(struct reply));
    bad |= write_file(path, "samples.bin", path->samples.entries, path->samples.count * sizeof(struct sample));
    if (failure) bad |= write_file(path, "failure.txt", failure, strlen(failure));
    if (path->fault) bad |= write_file(path, "fault.txt", path->fault, strlen(path->fault)), bad = -1;
    release(path);
    return bad;
}

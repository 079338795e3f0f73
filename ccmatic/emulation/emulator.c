/* A link between two TUN devices: a drop-tail bottleneck on a virtual clock, or at opportunities, then a box that holds
 * packets, in order.
 *
 * usage: emulator SENDERS RECEIVERS DEVICE LOG < configuration
 *
 * SENDERS and RECEIVERS are named network namespaces, each with a TUN device DEVICE. The configuration is in the order
 * read_config, as link.py writes it. "ready" is printed once packets are read. Time 0 is when the first packet arrives,
 * and printed then, in ns of the monotonic clock; after `duration` the log is written and a line printed: whether it ran in real time, seconds of processor time, and
 * packets that the devices dropped.
 *
 * Every decision is made in integers from the instant at which a packet was read, so that the log replays exactly
 * (replay.py does it again). What happens in real time, the release, is logged beside its plan.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define NEVER INT64_MAX
#define LARGEST 65535          /* bytes of a packet */
#define RECORDS (1 << 28)      /* room in the log, reserved and not used */
#define HELD (INT64_C(1) << 30) /* bytes in flight, at most */
#define SPIN 12000             /* ns before a release from which on nothing sleeps: what a wake-up takes */

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

/* From `time` on `bits` a second; or a point of the curves of a schedule, in bytes, and how they go on from there: by
 * `admitting` and `serving` bytes in `length` ns. */
struct rate { int64_t time, bits; };
struct point { int64_t time, admitted, served, length, admitting, serving; };

/* A box of a flow's own: what is let through at an instant of its period is released at another. */
struct hold { int64_t let, released; };

static struct config {
    int64_t duration, buffer, propagation, jitter, pattern, port, rates_count, points_count;
    int64_t opportunities_count, opportunity; /* bytes that one carries */
    int64_t flows_count, *propagations; /* of flows that have one of their own */
    int64_t period, boxes_count; /* of boxes of flows' own */
    uint64_t seed;
    struct rate *rates;
    struct point *points;
    int64_t *opportunities;
    struct hold **boxes;
} config;

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
    config.propagation = number();
    config.jitter = number();
    config.pattern = number();
    config.seed = number();
    config.port = number();
    config.rates_count = number();
    config.points_count = number();
    config.opportunities_count = number();
    config.opportunity = number();
    config.flows_count = number();
    config.propagations = calloc(config.flows_count + 1, sizeof(int64_t));
    config.rates = calloc(config.rates_count + 1, sizeof(struct rate));
    config.points = calloc(config.points_count + 1, sizeof(struct point));
    config.opportunities = calloc(config.opportunities_count + 1, sizeof(int64_t));
    if (!config.rates || !config.points || !config.opportunities || !config.propagations) die("no memory");
    for (int i = 0; i < config.flows_count; i++) config.propagations[i] = number();
    for (int i = 0; i < config.rates_count; i++) {
        config.rates[i].time = number();
        config.rates[i].bits = number();
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
}

/* ---- what the link decides: in integers only ---- */

struct decision { int lost; int64_t admitted, planned; };

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t below(uint64_t bound)
{
    uint64_t z = (config.seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned __int128)(z ^ (z >> 31)) * bound >> 64;
}

/* Service of all accepted packets ends at `end` + `rest` / bits ns, where bits are the rate's in segment `last`. */
static struct { int64_t end, rest; int now, last; } clock_of_link;

/* What is to be served from `now` on, in bits · 10^-9. */
static wide backlog(int64_t now)
{
    wide work = 0;
    if (now > clock_of_link.end) return 0;
    for (int i = clock_of_link.now; i < clock_of_link.last; i++) {
        work += (wide)(config.rates[i + 1].time - now) * config.rates[i].bits;
        now = config.rates[i + 1].time;
    }
    return work + (wide)(clock_of_link.end - now) * config.rates[clock_of_link.last].bits + clock_of_link.rest;
}

/* The link serves `work` more; whether it is at once, or in a segment to come, whose rate is known. */
static void serve(wide work)
{
    for (;;) {
        int64_t bits = config.rates[clock_of_link.last].bits, next = config.rates[clock_of_link.last + 1].time;
        wide room = (wide)(next - clock_of_link.end) * bits - clock_of_link.rest;
        if (work < room) {
            work += clock_of_link.rest;
            clock_of_link.end += work / bits;
            clock_of_link.rest = work % bits;
            return;
        }
        work -= room;
        clock_of_link.end = next, clock_of_link.rest = 0, clock_of_link.last++;
    }
}

/* When the box of a flow lets go what was admitted: between two points in proportion, after the last from the first. */
static int64_t release_of_own(int64_t admitted, int flow)
{
    if (flow < 0 || flow >= config.boxes_count) return admitted;
    int64_t within = admitted % config.period;
    const struct hold *hold = config.boxes[flow];
    while (hold[1].let <= within) hold++;
    wide gain = hold[1].released - hold->released;
    return admitted - within + hold->released + (int64_t)(gain * (within - hold->let) / (hold[1].let - hold->let));
}

/* When a packet that was admitted is let go, before propagation. */
static int64_t release_of(int64_t admitted, int flow)
{
    static int64_t last;
    int64_t wish = admitted;
    switch (config.pattern) {
    case UNIFORM:
        wish += below(config.jitter + 1);
        if (wish > last) last = wish;
        return last;
    case AGGREGATION: /* the end of a batch: of all that is admitted since the end of the one before */
        while (last < admitted) last += 1 + below(config.jitter);
        return last;
    case OWN:
        return release_of_own(admitted, flow);
    default:
        return wish;
    }
}

static struct decision by_clock(int64_t now, int64_t size, int flow)
{
    wide work = (wide)size * 8 * SECOND;
    while (config.rates[clock_of_link.now + 1].time <= now) clock_of_link.now++;
    if (backlog(now) + work > (wide)config.buffer * 8 * SECOND) return (struct decision){1, -1, -1};
    if (clock_of_link.end < now)
        clock_of_link.end = now, clock_of_link.rest = 0, clock_of_link.last = clock_of_link.now;
    serve(work);
    int64_t admitted = clock_of_link.end + (clock_of_link.rest > 0);
    return (struct decision){0, admitted, release_of(admitted, flow)};
}

/* When the opportunity of that number, from 1 on, is; after the last they begin again. */
static int64_t instant(int64_t n)
{
    int64_t count = config.opportunities_count, cycle = (n - 1) / count;
    return cycle * config.opportunities[count - 1] + config.opportunities[(n - 1) % count];
}

static struct decision by_opportunities(int64_t now, int64_t size, int flow)
{
    static int64_t passed, taken; /* bytes that the opportunities carry which are over or which accepted packets take */
    while (instant(passed + 1) <= now) passed++;
    int64_t over = passed * config.opportunity;
    if (taken < over) taken = over;
    if (taken - over + size > config.buffer) return (struct decision){1, -1, -1};
    taken += size;
    int64_t admitted = instant((taken + config.opportunity - 1) / config.opportunity);
    return (struct decision){0, admitted, release_of(admitted, flow)};
}

/* The first whole ns at which a curve that starts at `value` and grows by `gain` in `length` ns reaches `position`. */
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
    if (free + (wide)here->admitting * (now - here->time) < 0) return (struct decision){1, -1, -1};
    accepted += size;
    while (admitting[1].time != NEVER && admitting[1].admitted < accepted) admitting++;
    while (serving[1].time != NEVER && serving[1].served < accepted) serving++;
    int64_t admitted = reached(admitting, admitting->admitted, admitting->admitting, accepted);
    int64_t served = reached(serving, serving->served, serving->serving, accepted);
    return (struct decision){0, admitted < now ? now : admitted, served < now ? now : served};
}

static struct decision decide(int64_t now, int64_t size, int flow)
{
    if (config.points_count) return by_curves(now, size);
    struct decision decision = config.opportunities_count ? by_opportunities(now, size, flow) : by_clock(now, size, flow);
    if (!decision.lost)
        decision.planned += flow >= 0 && flow < config.flows_count ? config.propagations[flow] : config.propagation;
    return decision;
}

/* ---- packets ---- */

struct record {
    int64_t arrival, admitted, planned, released; /* ns; -1: never */
    int32_t size;
    int16_t flow; /* -1: of none */
    int16_t lost;
};

struct packet {
    struct packet *next;
    struct record *record;
    int size;
    unsigned char bytes[];
};

/* Packets in the order in which they are to be released: of one flow, or of all that have no propagation of their own. */
struct queue { struct packet *first, **last; };

static struct record *records;
static int64_t records_count, held;
static struct queue *queues; /* one a flow that has, and a last one */
static int64_t origin; /* of time: on the monotonic clock, when the first packet arrived */

static int64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static int flow_of(const unsigned char *bytes, int size)
{
    if (size < 20 || bytes[0] >> 4 != 4) return -1;
    int header = (bytes[0] & 15) * 4, protocol = bytes[9];
    if ((protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || size < header + 4) return -1;
    int flow = (bytes[header + 2] << 8 | bytes[header + 3]) - config.port;
    return flow < 0 || flow > INT16_MAX ? -1 : flow;
}

static void make_queues(void)
{
    queues = calloc(config.flows_count + 1, sizeof *queues);
    if (!queues) die("no memory");
    for (int i = 0; i <= config.flows_count; i++) queues[i].last = &queues[i].first;
}

static struct queue *queue_of(int flow)
{
    return &queues[flow >= 0 && flow < config.flows_count ? flow : config.flows_count];
}

/* That whose first packet is to be released first; one that is empty if all are. */
static struct queue *next_queue(void)
{
    struct queue *next = queues;
    for (struct queue *queue = queues + 1; queue <= queues + config.flows_count; queue++)
        if (!next->first || (queue->first && queue->first->record->planned < next->first->record->planned))
            next = queue;
    return next;
}

static void begin(int64_t now)
{
    origin = now;
    printf("%" PRId64 "\n", now);
    fflush(stdout);
}

static void arrive(const unsigned char *bytes, int size)
{
    int64_t now = monotonic();
    if (!records_count) begin(now);
    if (records_count == RECORDS) die("the log is full");
    struct record *record = &records[records_count++];
    int flow = flow_of(bytes, size);
    struct decision decision = decide(now - origin, size, flow);
    *record = (struct record){now - origin, decision.admitted, decision.planned, -1, size, flow, decision.lost};
    if (decision.lost) return;
    struct packet *packet = malloc(sizeof *packet + size);
    held += size;
    if (!packet || held > HELD) die("no memory: more than a gibibyte is in flight");
    *packet = (struct packet){NULL, record, size};
    memcpy(packet->bytes, bytes, size);
    struct queue *queue = queue_of(flow);
    *queue->last = packet;
    queue->last = &packet->next;
}

static void pass_on(int device, const void *bytes, int size)
{
    if (write(device, bytes, size) < 0) die("cannot write to a TUN device: %s", strerror(errno));
}

static void release(struct queue *queue, int receivers)
{
    struct packet *packet = queue->first;
    if (!(queue->first = packet->next)) queue->last = &queue->first;
    packet->record->released = monotonic() - origin;
    pass_on(receivers, packet->bytes, packet->size);
    held -= packet->size;
    free(packet);
}

/* The bytes of a packet that waits at a device, 0 if none does. */
static int next_packet(int device, unsigned char *bytes)
{
    int size = read(device, bytes, LARGEST);
    if (size < 0 && errno != EAGAIN && errno != EINTR) die("cannot read from a TUN device: %s", strerror(errno));
    return size < 0 ? 0 : size;
}

static int due(const struct queue *queue, int64_t now)
{
    return queue->first && queue->first->record->planned <= now;
}

/* Packets both ways until the duration is over. Towards the senders they are passed on at once, but after what is due:
 * a batch to the receivers is not held up by what its acknowledgements set off. */
static void run(int senders, int receivers)
{
    static unsigned char bytes[LARGEST];
    struct pollfd devices[] = {{senders, POLLIN, 0}, {receivers, POLLIN, 0}};
    for (;;) {
        int64_t now = records_count ? monotonic() - origin : 0;
        if (now >= config.duration) return;
        struct queue *next = next_queue();
        int busy = due(next, now), size;
        if (busy) release(next, receivers);
        if ((size = next_packet(senders, bytes))) busy = 1, arrive(bytes, size);
        if (due(next = next_queue(), now)) continue;
        if ((size = next_packet(receivers, bytes))) busy = 1, pass_on(senders, bytes, size);
        if (busy) continue;
        next = next_queue();
        int64_t until = next->first ? next->first->record->planned : config.duration;
        if (until > config.duration) until = config.duration;
        int64_t sleep = until - SPIN - (records_count ? monotonic() - origin : 0);
        struct timespec wait = {sleep / SECOND, sleep % SECOND};
        if (sleep > 0) ppoll(devices, 2, records_count ? &wait : NULL, NULL);
    }
}

/* ---- start and end ---- */

static void enter(const char *namespace)
{
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int place = open(path, O_RDONLY | O_CLOEXEC);
    if (place < 0 || setns(place, CLONE_NEWNET)) die("cannot enter %s: %s", path, strerror(errno));
    close(place);
}

static int open_device(const char *namespace, const char *name)
{
    enter(namespace);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, IFNAMSIZ, "%s", name);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0 || ioctl(device, TUNSETIFF, &request)) die("cannot open a TUN device: %s", strerror(errno));
    return device;
}

/* Packets that a device of the namespace entered last has dropped, either way. */
static long dropped(const char *name)
{
    char line[512], *counters;
    long drops[2] = {0, 0};
    FILE *file = fopen("/proc/thread-self/net/dev", "r");
    while (file && fgets(line, sizeof line, file))
        if ((counters = strchr(line, ':')) && !strncmp(counters - strlen(name), name, strlen(name)))
            sscanf(counters + 1, "%*s %*s %*s %ld %*s %*s %*s %*s %*s %*s %*s %ld", &drops[0], &drops[1]);
    if (!file || fclose(file)) die("cannot read the counters of %s", name);
    return drops[0] + drops[1];
}

static int real_time(void)
{
    struct sched_param priority = {.sched_priority = 50};
    prctl(PR_SET_TIMERSLACK, 1);
    return !sched_setscheduler(0, SCHED_FIFO, &priority);
}

static void write_log(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(records, sizeof *records, records_count, file) < (size_t)records_count || fclose(file))
        die("cannot write the log: %s", strerror(errno));
}

int main(int count, char **arguments)
{
    if (count != 5) die("usage: emulator SENDERS RECEIVERS DEVICE LOG < configuration");
    read_config();
    make_queues();
    int senders = open_device(arguments[1], arguments[3]), receivers = open_device(arguments[2], arguments[3]);
    records = mmap(NULL, sizeof(struct record) * RECORDS, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (records == MAP_FAILED) die("no memory for the log: %s", strerror(errno));
    int real = real_time();
    puts("ready");
    fflush(stdout);
    run(senders, receivers);

    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    long micros = used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    long drops = dropped(arguments[3]);
    enter(arguments[1]);
    drops += dropped(arguments[3]);
    write_log(arguments[4]);
    printf("%d %.6f %ld\n", real, used.ru_utime.tv_sec + used.ru_stime.tv_sec + micros / 1e6, drops);
    return 0;
}

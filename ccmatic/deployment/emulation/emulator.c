/* A link between two TUN devices: a drop-tail bottleneck that follows a virtual clock or opportunities, then a box
 * that holds packets, in order.
 *
 * usage: emulator SENDERS RECEIVERS DEVICE LOG < configuration
 *
 * SENDERS and RECEIVERS are named network namespaces, each with a TUN device DEVICE. The configuration is that of
 * decisions.h. The program prints "ready" once it reads packets. Time 0 is the arrival of the first packet; the
 * program then prints it, in ns of the monotonic clock. After `duration` it writes the log and prints a line:
 * whether it ran in real time, seconds of processor time, and the packets that the devices dropped.
 *
 * Every decision is made in integers from the instant at which the program read the packet. So the log replays
 * exactly (replay.c does this). The release happens in real time, and is logged with its plan.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "decisions.h"

#define LARGEST 65535          /* the most bytes in a packet */
#define RECORDS (1 << 28)      /* the room of the log; unused room takes no memory */
#define HELD (INT64_C(1) << 30) /* the most bytes in flight */
#define SPIN 12000             /* nothing sleeps in these ns before a release, because a wake-up takes this long */

/* ---- packets ---- */

struct record {
    int64_t arrival, admitted, planned, released; /* ns; -1: never */
    int32_t size;
    int16_t flow; /* -1: no flow */
    int8_t lost, marked; /* marked: 1 if it has a mark; 2 if its sender does not understand the mark that it would have */
};

struct packet {
    struct packet *next;
    struct record *record;
    int size;
    unsigned char bytes[];
};

/* Packets in the order of their release: those of one flow, or of all flows without a propagation delay of their
 * own. */
struct queue { struct packet *first, **last; };

static struct record *records;
static int64_t records_count, held;
static struct queue *queues; /* one per flow with its own propagation, and a last one */
static int64_t origin; /* time 0 on the monotonic clock: when the first packet arrived */

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

/* Return the queue whose first packet is released first; an empty one if all are empty. */
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

/* Mark a packet whose sender understands marks (ECN, RFC 3168): set CE in the IP header, and correct the checksum
 * (RFC 1624). Others pass unmarked. Return the record's `marked`. */
static int8_t mark(unsigned char *bytes, int size)
{
    if (size < 20 || bytes[0] >> 4 != 4 || !(bytes[1] & 3)) return 2;
    uint32_t before = bytes[0] << 8 | bytes[1], after = before | 3;
    uint32_t sum = (~(bytes[10] << 8 | bytes[11]) & 0xffff) + (~before & 0xffff) + after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    bytes[1] |= 3, bytes[10] = sum >> 8, bytes[11] = sum;
    return 1;
}

static void arrive(unsigned char *bytes, int size)
{
    int64_t now = monotonic();
    if (!records_count) begin(now);
    if (records_count == RECORDS) die("the log is full");
    struct record *record = &records[records_count++];
    int flow = flow_of(bytes, size);
    struct decision decision = decide(now - origin, size, flow);
    *record = (struct record){
        now - origin, decision.admitted, decision.planned, -1, size, flow, decision.lost, 0,
    };
    if (decision.lost) return;
    if (decision.marked) record->marked = mark(bytes, size);
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

/* Read a waiting packet from a device, and return its size; 0 if no packet waits. */
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

/* Pass packets both ways until the duration is over. Packets towards the senders pass at once, but after the due
 * ones: so the acknowledgements of a batch do not delay the rest of the batch. */
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

/* Return how many packets a device of the namespace entered last has dropped, in both directions. */
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

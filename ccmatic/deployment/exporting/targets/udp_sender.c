/* Sends over UDP to a udp_receiver, at the rate and by the window of the controller in @NAME@.h.
 *
 * Packets keep at least the distance of the current rate, counted from the last packet sent. A change of the rate
 * takes effect at the next packet. The sender does not make up for a missed sending opportunity (the paper, appendix
 * G).
 */
#define _GNU_SOURCE
#include "udp.h"
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include "@NAME@.h"
#include "log.h"
#if CCM_ENVELOPE
#include "policy.h"
#endif

static const char usage[] =
    "udp_sender [options] ADDRESS PORT\n"
    "  --duration S   seconds to send for (10)\n"
    "  --packet B     bytes of a packet, with its IP and UDP headers (1500)\n"
    "  --step NS      length of a step, fixed; else it follows the least round trip that is measured\n"
    "  --queue B      first send this many bytes at once\n"
    "  --start NAME=VALUE,...  first values of beliefs or state, in bytes per step, bytes or steps\n"
    "  --log FILE     write a record of each step, as CSV\n"
    "  --policy COMMAND  for an envelope: a command that reads these records and writes a wanted rate, a line per step";

/* The longest sleep. */
enum { LOOK_NS = 1000000 };
/* The sender spins for a short time before a packet is due. Within bounds, this time is so long that nine sleeps in
 * ten end in time. Linux stops a real-time process that only spins for a twentieth of the time. */
enum { LEAST_SPIN_NS = 10000, FIRST_SPIN_NS = 50000, MOST_SPIN_NS = 100000, SPIN_STEP_NS = 1000 };
/* A packet that took this much longer to send than others may have left only at the end of that time. */
enum { HELD_NS = 20000 };
/* Later packets make up for a late one by following at up to twice the rate. But the sender gives up any lateness
 * beyond this many packets. So a stall does not end in a burst that a shallow buffer loses. */
enum { BEHIND = 4 };
/* In an envelope the sender never makes up for packets of the step before: the bytes sent in a step obey its bounds. */
#if CCM_ENVELOPE || defined CCM_NETWORK
enum { IN_ENVELOPE = 1 };
#else
enum { IN_ENVELOPE = 0 };
#endif
/* A packet is lost when this many later ones are acknowledged (the models' networks keep the order), when it is
 * unanswered for this long and for longer than usual, or when this many are in flight. It may be acknowledged
 * nevertheless. */
enum { REORDERING = CCM_REORDERING, TIMEOUT_NS = 1000000000, WINDOW = 1 << 17 };
/* The largest number on the command line. */
#define LARGEST 1000000000000000

struct options {
    struct sockaddr_in to;
    uint64_t duration_ns, packet, step_ns, queue;
    char *start;
    const char *log, *policy;
};

enum state { SENT, ACKED, LOST };

/* Packets `oldest` to `next` - 1, by number modulo WINDOW. The fate of earlier packets is decided. */
struct flight {
    uint64_t sent_ns[WINDOW];
    unsigned char state[WINDOW];
    uint64_t oldest, next;
    uint64_t latest[REORDERING]; /* the highest numbers acknowledged, highest first */
};

static struct {
    struct options options;
    struct ccm_sender sender;
    struct flight flight;
    int socket;
    uint64_t begun_ns, srtt_ns, rttvar_ns, spin_ns;
    uint64_t usual_ns; /* the usual time that sending a packet takes */
    uint64_t sent, delivered, lost, rate; /* bytes, bytes per second */
    FILE *log;
    uint64_t logged; /* the start of the last logged step */
} flow;

static char payload[65536];

static void send_packet(uint64_t now)
{
    struct flight *flight = &flow.flight;
    struct packet packet = {htobe64(flight->next)};
    memcpy(payload, &packet, sizeof packet);
    flight->sent_ns[flight->next % WINDOW] = now;
    flight->state[flight->next % WINDOW] = SENT;
    flight->next++;
    flow.sent += flow.options.packet;
    ccm_sent(&flow.sender, now, flow.options.packet);
    /* If this machine refuses a packet, the packet counts as lost on its way. */
    (void)send(flow.socket, payload, flow.options.packet - HEADERS, MSG_DONTWAIT);
}

/* The packets that an acknowledgement reports first: their number, and the last of them. */
struct news {
    uint64_t packets, last;
};

/* Process the acknowledgement of a packet, and return whether it is news. If the packet had been given up, the
 * sender learns of it at once. */
static bool acknowledge(uint64_t seq, uint64_t now, struct news *news)
{
    struct flight *flight = &flow.flight;
    if (seq == 0 || seq >= flight->next || seq + WINDOW <= flight->next || flight->state[seq % WINDOW] == ACKED)
        return false;
    flow.delivered += flow.options.packet;
    if (flight->state[seq % WINDOW] == LOST) {
        flow.lost -= flow.options.packet;
        ccm_found(&flow.sender, now, flight->sent_ns[seq % WINDOW], flow.options.packet);
    } else {
        news->packets++;
        news->last = seq > news->last ? seq : news->last;
    }
    flight->state[seq % WINDOW] = ACKED;
    for (int i = 0; i < REORDERING; i++) {
        if (seq > flight->latest[i]) {
            uint64_t lower = flight->latest[i];
            flight->latest[i] = seq;
            seq = lower;
        }
    }
    return true;
}

static void measure(uint64_t rtt_ns)
{
    uint64_t off = rtt_ns > flow.srtt_ns ? rtt_ns - flow.srtt_ns : flow.srtt_ns - rtt_ns;
    flow.rttvar_ns = flow.srtt_ns ? (3 * flow.rttvar_ns + off) / 4 : rtt_ns / 2;
    flow.srtt_ns = flow.srtt_ns ? (7 * flow.srtt_ns + rtt_ns) / 8 : rtt_ns;
    ccm_rtt(&flow.sender, rtt_ns);
}

static void take(const struct ack *ack, uint64_t now)
{
    uint64_t seq = be64toh(ack->seq), highest = be64toh(ack->highest), received = be64toh(ack->received);
    struct news news = {0};
#ifdef CCM_ECN
    ccm_marked(&flow.sender, now, be64toh(ack->marked) * flow.options.packet);
#endif
    if (acknowledge(seq, now, &news))
        measure(now - flow.flight.sent_ns[seq % WINDOW]);
    for (uint64_t i = 0; i < 64; i++)
        if (received >> i & 1)
            (void)acknowledge(highest - 1 - i, now, &news);
    if (news.packets)
        ccm_acked(&flow.sender, now, flow.flight.sent_ns[news.last % WINDOW], news.packets * flow.options.packet);
}

static void take_all(void)
{
    struct ack ack;
    while (recv(flow.socket, &ack, sizeof ack, MSG_DONTWAIT) == (ssize_t)sizeof ack)
        take(&ack, clock_ns());
}

static void lose(uint64_t seq, uint64_t now, bool overtaken)
{
    if (flow.flight.state[seq % WINDOW] != SENT)
        return;
    flow.flight.state[seq % WINDOW] = LOST;
    flow.lost += flow.options.packet;
    if (overtaken)
        ccm_lost(&flow.sender, now, flow.flight.sent_ns[seq % WINDOW], flow.options.packet);
    else
        ccm_gave_up(&flow.sender, now, flow.flight.sent_ns[seq % WINDOW], flow.options.packet);
}

static void lose_all(uint64_t now)
{
    struct flight *flight = &flow.flight;
    uint64_t timeout = 2 * flow.srtt_ns + 4 * flow.rttvar_ns;
    if (timeout < TIMEOUT_NS)
        timeout = TIMEOUT_NS;
    while (flight->oldest < flight->next) {
        bool overtaken = flight->oldest < flight->latest[REORDERING - 1];
        bool late = now > flight->sent_ns[flight->oldest % WINDOW] + timeout;
        if (!overtaken && !late && flight->next - flight->oldest < WINDOW)
            break;
        lose(flight->oldest++, now, overtaken);
    }
}

/* Set the rate, and return whether a step has begun since the last call. */
static bool set_rate(uint64_t now)
{
    struct ccm_record record;
#ifdef CCM_TOLD
    policy_read();
    ccm_want(&flow.sender, now, policy.last);
#endif
    flow.rate = ccm_rate(&flow.sender, now);
    if (flow.sender.start == flow.logged)
        return false;
    flow.logged = flow.sender.start;
#if CCM_ENVELOPE
    ccm_record(&flow.sender, flow.rate, &record);
    ccm_want(&flow.sender, now, policy_wants(&record));
    flow.rate = ccm_rate(&flow.sender, now);
#endif
    ccm_record(&flow.sender, flow.rate, &record);
    if (flow.log)
        log_record(flow.log, &record);
    return true;
}

/* Wait for an acknowledgement, or for this long. The end of a step, with its new rate, interrupts nothing. */
static void wait_for(uint64_t ns)
{
    struct pollfd answer = {.fd = flow.socket, .events = POLLIN};
    struct timespec most = {.tv_nsec = (long)(ns < LOOK_NS ? ns : LOOK_NS)};
    uint64_t begun = clock_ns();
    if (ppoll(&answer, 1, &most, NULL))
        return;
    if (clock_ns() - begun > (uint64_t)most.tv_nsec + flow.spin_ns)
        flow.spin_ns += flow.spin_ns < MOST_SPIN_NS ? 9 * SPIN_STEP_NS : 0;
    else
        flow.spin_ns -= flow.spin_ns > LEAST_SPIN_NS ? SPIN_STEP_NS : 0;
}

/* Send at a time that is near or past, and return when the packet left. */
static uint64_t send_at(uint64_t due)
{
    uint64_t now, after;
    while ((now = clock_ns()) < due)
        ;
    send_packet(now);
    after = clock_ns();
    bool held = after - now > flow.usual_ns + HELD_NS;
    flow.usual_ns = (7 * flow.usual_ns + after - now) / 8;
    return held ? after : now;
}

/* Return the round trip of a packet that requests an answer. End the process if no answer comes. */
static uint64_t probe(void)
{
    struct pollfd answer = {.fd = flow.socket, .events = POLLIN};
    for (int tries = 0; tries < 5 && !stopped; tries++) {
        struct ack ack;
        uint64_t asked = clock_ns();
        (void)send(flow.socket, payload, flow.options.packet - HEADERS, 0);
        if (poll(&answer, 1, 1000) > 0 && recv(flow.socket, &ack, sizeof ack, MSG_DONTWAIT) == (ssize_t)sizeof ack)
            return clock_ns() - asked;
    }
    fail("no answer", "expected an udp_receiver at this address and port");
    return 0;
}

static void give_beliefs(char *start)
{
    for (char *name = strtok(start, ","); name; name = strtok(NULL, ",")) {
        char *value = strchr(name, '=');
        if (!value)
            fail("expected NAME=VALUE, found", name);
        *value++ = 0;
        if (!ccm_start(&flow.sender, name, number(value, UINT64_MAX)))
            fail("no such belief or state", name);
    }
}

static void open_all(void)
{
    const struct options *options = &flow.options;
    flow.socket = socket(AF_INET, SOCK_DGRAM, 0);
    widen(flow.socket);
#ifdef CCM_ECN
    int ecn = ECN_CAPABLE;
    if (setsockopt(flow.socket, IPPROTO_IP, IP_TOS, &ecn, sizeof ecn))
        fail("cannot send packets that links may mark", strerror(errno));
#endif
    if (connect(flow.socket, (const struct sockaddr *)&options->to, sizeof options->to))
        fail("cannot send to the receiver", strerror(errno));
    if (options->log && !(flow.log = fopen(options->log, "w")))
        fail(options->log, strerror(errno));
    if (flow.log)
        setvbuf(flow.log, NULL, _IOLBF, 0);
    flow.flight.oldest = flow.flight.next = 1;
    flow.spin_ns = FIRST_SPIN_NS;
    uint64_t rtt = options->step_ns ? ccm_at_most(options->step_ns, CCM_LONGEST_RTT) : probe();
    flow.begun_ns = clock_ns();
    if (!ccm_init(&flow.sender, flow.begun_ns, rtt, (uint32_t)options->packet))
        fail("cannot begin", "expected a round trip of at most 17 s");
    if (options->step_ns)
        (void)ccm_fix_step(&flow.sender, options->step_ns);
}

static void run(void)
{
    const struct options *options = &flow.options;
    uint64_t now = flow.begun_ns, planned = now, last = now, end = now + options->duration_ns;
    for (uint64_t bytes = 0; bytes < options->queue; bytes += options->packet)
        send_packet(now);
    if (options->start)
        give_beliefs(options->start);
    if (flow.log)
        log_names(flow.log);
    while (!stopped && (now = clock_ns()) < end) {
        take_all();
        lose_all(now);
        bool begun = set_rate(now);
        if (!flow.rate || flow.sent - flow.delivered - flow.lost + options->packet > ccm_window(&flow.sender, now)) {
            wait_for(LOOK_NS);
            continue;
        }
        uint64_t gap = options->packet * 1000000000 / flow.rate;
        if (IN_ENVELOPE && begun)
            planned = ccm_at_least(planned, now - ccm_at_most(now, gap));
        uint64_t due = ccm_at_least(planned + gap, last + gap / 2);
        if (due < now + flow.spin_ns) {
            last = send_at(due);
            planned = ccm_at_least(planned + gap, last - ccm_at_most(last, BEHIND * gap));
        } else {
            wait_for(due - now - flow.spin_ns);
        }
    }
}

static uint64_t seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*end || !(value > 0 && value < 1e6))
        fail("expected seconds, found", text);
    return (uint64_t)(1e9 * value);
}

static void parse(int argc, char **argv)
{
    static const struct option options_by_name[] = {
        {"duration", required_argument, NULL, 'd'}, {"packet", required_argument, NULL, 'p'},
        {"step", required_argument, NULL, 't'},     {"queue", required_argument, NULL, 'q'},
        {"start", required_argument, NULL, 's'},    {"log", required_argument, NULL, 'l'},
        {"policy", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    struct options *options = &flow.options;
    bool fixed = false;
    *options = (struct options){.duration_ns = 10000000000, .packet = 1500};
    for (int option; (option = getopt_long(argc, argv, "", options_by_name, NULL)) != -1;) {
        switch (option) {
        case 'd': options->duration_ns = seconds(optarg); break;
        case 'p': options->packet = number(optarg, 65535); break;
        case 't': fixed = true, options->step_ns = number(optarg, CCM_LONGEST_STEP); break;
        case 'q': options->queue = number(optarg, LARGEST); break;
        case 's': options->start = optarg; break;
        case 'l': options->log = optarg; break;
        case 'w': options->policy = optarg; break;
        default: fail("usage", usage);
        }
    }
    if (argc - optind != 2 || (options->policy && !CCM_ENVELOPE))
        fail("usage", usage);
    if (fixed && !options->step_ns)
        fail("usage", "a step takes at least 1 ns");
    if (options->packet < HEADERS + sizeof(struct packet))
        fail("usage", "a packet takes at least 36 bytes");
    if (options->queue / options->packet >= WINDOW / 2)
        fail("usage", "the queue is too long");
    options->to.sin_family = AF_INET;
    options->to.sin_port = htons((uint16_t)number(argv[optind + 1], 65535));
    if (!inet_aton(argv[optind], &options->to.sin_addr))
        fail("expected an IPv4 address, found", argv[optind]);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    prctl(PR_SET_TIMERSLACK, 1);
    begin();
#if CCM_ENVELOPE
    policy_begin(flow.options.policy);
#endif
#ifdef CCM_TOLD
    policy_first();
#endif
    open_all();
    run();
    if (flow.log && fclose(flow.log))
        fail(flow.options.log, strerror(errno));
    printf("{\"name\": \"%s\", \"sent\": %llu, \"delivered\": %llu, \"lost\": %llu, \"seconds\": %.6f}\n", CCM_NAME,
           (unsigned long long)flow.sent, (unsigned long long)flow.delivered, (unsigned long long)flow.lost,
           (double)(clock_ns() - flow.begun_ns) / 1e9);
    return 0;
}

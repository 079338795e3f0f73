/* The common part of sender and receiver: the format of packets and acknowledgements (big-endian), a clock, and
 * ends. */
#ifndef CCM_UDP_H
#define CCM_UDP_H

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The bytes of a packet's IPv4 and UDP headers. All counted and reported bytes include them. */
#define HEADERS 28

/* The first bytes of a packet, which is then padded to its size. Numbers start at 1; number 0 only requests an
 * answer. */
struct packet {
    uint64_t seq;
};

/* The answer to packet `seq`. Bit i of `received` is set if packet highest - 1 - i arrived, too. So a later
 * acknowledgement makes up for a lost one. `marked` packets arrived with the mark of a congested link, in all. */
struct ack {
    uint64_t seq, highest, received, marked;
};

/* ECN in the field TOS of the IP header (RFC 3168): the sender understands marks, and a link has marked the packet. */
enum { ECN_CAPABLE = 2, ECN_MARKED = 3 };

static volatile sig_atomic_t stopped;

static inline void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* End at SIGINT and SIGTERM, which interrupt waiting calls. Run ahead of other processes, if that is allowed. */
static inline void begin(void)
{
    struct sigaction action = {.sa_handler = stop};
    struct sched_param first = {.sched_priority = 1};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
}

static inline uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline void fail(const char *message, const char *detail)
{
    fprintf(stderr, "%s: %s\n", message, detail);
    exit(2);
}

/* Return the whole number in a text, from 0 to `most`. End the process if the text is no such number. */
static inline uint64_t number(const char *text, uint64_t most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value > most)
        fail("expected a whole number, and not too large, found", text);
    return value;
}

/* Make room for the acknowledgements or packets that arrive while the process waits for a processor. */
static inline void widen(int socket)
{
    int bytes = 4 << 20;
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

#endif

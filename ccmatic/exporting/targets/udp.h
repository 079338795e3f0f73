/* What sender and receiver share: the format of packets and acknowledgements (big-endian), a clock, and endings. */
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

/* Bytes of a packet that IPv4 and UDP take; all bytes that are counted and reported include them. */
#define HEADERS 28

/* The first bytes of a packet, which is then padded to its size. Numbers start at 1; 0 only asks for an answer. */
struct packet {
    uint64_t seq;
};

/* Answers packet `seq`. Bit i of `received` says that packet highest - 1 - i came, too: so a lost acknowledgement is
 * made good by the next. */
struct ack {
    uint64_t seq, highest, received;
};

static volatile sig_atomic_t stopped;

static inline void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* End at SIGINT and SIGTERM, interrupting what waits; run ahead of other processes, where that is allowed. */
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

/* A whole number from text, from 0 to `most`; ends the process if it is none. */
static inline uint64_t number(const char *text, uint64_t most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value > most)
        fail("expected a whole number, and not too large, found", text);
    return value;
}

/* Room for the acknowledgements, or packets, that come while the process waits for a processor. */
static inline void widen(int socket)
{
    int bytes = 4 << 20;
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

#endif

/* A congestion controller alone, as a shared library. A sender of RFC 9002 runs around it.
 *
 * Times are in ns from the beginning of a run, sizes in bytes of IP packets. A library defines controller_new,
 * controller_acked, controller_lost, controller_window and controller_free. The other functions are optional.
 */
#ifndef CCM_CONTROLLER_H
#define CCM_CONTROLLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct controller;

/* An event at the instant `now`. Numbers that an event does not define are 0. */
struct controller_event {
    int64_t now;
    int64_t sent;       /* when the newest of these bytes left */
    int64_t bytes;      /* the bytes that the event is about */
    int64_t rtt;        /* the latest RTT; 0 before the first one */
    int64_t least_rtt;  /* the smallest RTT so far; 0 before the first one */
    int64_t smooth_rtt; /* RFC 9002, 5.3; 333 ms before the first RTT */
    int64_t in_flight;  /* bytes after the event */
    int32_t app_limited; /* 1: the application has less to send than the window allows */
    int32_t persistent;  /* 1: with this loss, congestion is persistent (RFC 9002, 7.6) */
};

/* Return the controller of a flow; NULL if the library has none of this name. `seed` is the only source of randomness,
 * `packet` the size of the largest packet. */
struct controller *controller_new(const char *name, uint64_t seed, int64_t packet);

/* A packet leaves. An acknowledgement reports new bytes; then follow the losses that it reveals, a call for each packet
 * in the order of sending, all at the same instant. Acknowledged bytes have the mark CE, which is reported before the
 * acknowledgement. The application has less data than the window allows. */
void controller_sent(struct controller *controller, const struct controller_event *event);
void controller_acked(struct controller *controller, const struct controller_event *event);
void controller_lost(struct controller *controller, const struct controller_event *event);
void controller_marked(struct controller *controller, const struct controller_event *event);
void controller_limited(struct controller *controller, const struct controller_event *event);

/* Return how many bytes may be in flight; CONTROLLER_NO_WINDOW or more for a controller that limits only the rate. */
#define CONTROLLER_NO_WINDOW (INT64_C(1) << 60)
int64_t controller_window(const struct controller *controller);

/* Return the earliest instant at which a packet of so many bytes may leave, if not before `now`. Without this function,
 * and for 0, the sender paces at 5/4 window per smooth RTT (RFC 9002, 7.7). */
int64_t controller_departure(const struct controller *controller, int64_t now, int64_t bytes);

void controller_free(struct controller *controller);

#ifdef __cplusplus
}
#endif

#endif

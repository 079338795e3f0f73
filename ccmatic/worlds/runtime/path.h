/* A path in virtual time, for programs that run a real network stack over it.
 *
 * A data packet meets, in this order: losses that the scenario names, a policer, losses by chance, a drop-tail buffer
 * with a bottleneck that may mark, a box that holds packets for at most D, and propagation for R_m. Each flow stays
 * first in, first out. Replies, such as acknowledgements, reach the sender at once, unless the scenario gathers or
 * loses them.
 *
 * Times are in ns from the beginning of the run, sizes in bytes of IP packets. The same calls give the same run.
 * A wrong call returns -1, changes nothing, and path_error says why.
 */
#ifndef CCM_PATH_H
#define CCM_PATH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct path;

enum path_kind {
    PATH_DATA,       /* a data packet reaches the receiver */
    PATH_REPLY,      /* a reply reaches the sender */
    PATH_START,      /* a flow starts */
    PATH_STOP,       /* a flow stops: its sender sends no new data */
    PATH_APPLICATION /* the application of a flow may offer more than before */
};

/* `packet` is the number that path_send or path_reply returned. `marked`: 1 if the packet has the mark CE. */
struct path_event { int32_t kind, flow; int64_t packet, size; int32_t marked, pad; };

/* What a sample says of its instant. */
enum path_flags { PATH_APPLICATION_LIMITED = 1, PATH_SLOW_START = 2, PATH_RECOVERY = 4 };

/* Open the run that FOLDER/scenario.txt describes. NULL: path_error says why. */
struct path *path_open(const char *folder);
const char *path_error(void);

int64_t path_end(const struct path *path);           /* the length of the run */
int64_t path_flows(const struct path *path);         /* the number of the subject's flows, which count from 0 */
int64_t path_seed(const struct path *path);          /* the only source of randomness for the subject */
int64_t path_packet(const struct path *path);        /* the bytes of the largest IP packet */
const char *path_controller(const struct path *path); /* the name of the subject's controller, such as cubic */
int64_t path_acks_packets(const struct path *path);  /* a receiver without a policy of its own acknowledges so many */
int64_t path_acks_delay(const struct path *path);    /* packets at once, or one after this time */

/* The instant of the next event; INT64_MAX if none is known. */
int64_t path_next(const struct path *path);

/* Take the first event that is due by `now`. Returns 0 if none is. */
int path_receive(struct path *path, int64_t now, struct path_event *event);

/* A data packet leaves the sender. `ect`: its sender understands marks. Returns its number, from 0 on, also if the
 * packet will be lost. */
int64_t path_send(struct path *path, int64_t now, int flow, int64_t size, int ect);

/* A reply leaves the receiver. Replies have numbers of their own, from 0 on. */
int64_t path_reply(struct path *path, int64_t now, int flow, int64_t size);

/* The bytes that the application of a flow has offered in its limited phases so far; INT64_MAX while it offers as much
 * as the sender takes. A limited application offers whole packets, and a paused one nothing. */
int64_t path_offered(const struct path *path, int64_t now, int flow);

/* Record the state of a sender: its window, the bytes in flight, the latest RTT, and the pacing rate in bytes per
 * second; -1 for what it does not know. `flags` are path_flags. Within a ms, only samples with another window count. */
void path_sample(struct path *path, int64_t now, int flow, int64_t window, int64_t in_flight, int64_t rtt, int64_t rate,
                 int flags);

/* End the run: write FOLDER/packets.bin, replies.bin and samples.bin, and free the path. `failure` says why the run
 * broke off; NULL if it did not. Returns 0, or -1 if a file cannot be written or a call was wrong. */
int path_close(struct path *path, const char *failure);

#ifdef __cplusplus
}
#endif

#endif

/* A sender of RFC 9002 around a controller, for each of the subject's flows. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>

/* Return the next instant at which something happens. */
static int64_t next_of(const struct path *path, const struct recovery *flows, int64_t count)
{
    int64_t next = path_next(path);
    for (int64_t i = 0; i < count; i++) next = recovery_least(next, recovery_due(&flows[i]));
    return next;
}

static void run(struct path *path, struct recovery *flows, int64_t count)
{
    struct path_event event;
    for (int64_t now; (now = next_of(path, flows, count)) < path_end(path);) {
        while (path_receive(path, now, &event)) recovery_process(&flows[event.flow], now, &event);
        for (int64_t i = 0; i < count; i++) recovery_run(&flows[i], now);
    }
}

int run_scenario(const char *folder, const struct recovery_library *library)
{
    struct path *path = path_open(folder);
    if (!path) return fprintf(stderr, "%s\n", path_error()), -1;
    int64_t count = path_flows(path), opened = 0;
    struct recovery *flows = calloc(count, sizeof *flows);
    char failure[512] = "";
    if (!flows) abort();
    for (; opened < count && !*failure; opened++) {
        struct recovery_port port = {path, (int)opened, path_send, path_reply, path_offered, path_sample};
        if (recovery_open(&flows[opened], library, path_controller(path), path_seed(path) + opened, port,
                          path_packet(path), path_acks_packets(path), path_acks_delay(path)))
            snprintf(failure, sizeof failure, "there is no controller '%.400s'", path_controller(path));
    }
    if (!*failure) run(path, flows, count);
    for (int64_t i = 0; i < opened; i++) {
        if (flows[i].flooded) snprintf(failure, sizeof failure, "flooded: %.400s", path_error());
        recovery_close(&flows[i]);
    }
    free(flows);
    path_close(path, *failure ? failure : NULL);
    if (*failure) printf("{\"failure\": \"%s\"}\n", failure);
    else printf("{\"failure\": null}\n");
    fflush(stdout);
    return 0;
}

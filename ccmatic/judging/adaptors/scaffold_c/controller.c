/* The controller "toy", for `ccmatic judge`. Times are in ns, sizes in bytes; controller.h explains the functions. */
#include "controller.h"

#include <stdlib.h>
#include <string.h>

struct controller {
    int64_t packet, window;
    int64_t threshold; /* slow start ends here */
    int64_t recovery;  /* losses of packets that left before this instant belong to the same event */
};

struct controller *controller_new(const char *name, uint64_t seed, int64_t packet)
{
    if (strcmp(name, "toy")) return NULL;
    struct controller *toy = malloc(sizeof *toy);
    if (toy) *toy = (struct controller){packet, 10 * packet, INT64_MAX, -1};
    return toy;
}

void controller_acked(struct controller *toy, const struct controller_event *event)
{
    if (event->sent <= toy->recovery || event->app_limited) return;
    int slow_start = toy->window < toy->threshold;
    toy->window += slow_start ? event->bytes : toy->packet * event->bytes / toy->window;
}

void controller_lost(struct controller *toy, const struct controller_event *event)
{
    int64_t least = 2 * toy->packet;
    if (event->sent > toy->recovery) {
        toy->recovery = event->now;
        toy->threshold = toy->window = toy->window / 2 > least ? toy->window / 2 : least;
    }
    if (event->persistent) toy->window = least;
}

int64_t controller_window(const struct controller *toy) { return toy->window; }

void controller_free(struct controller *toy) { free(toy); }

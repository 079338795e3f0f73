/* The link of one model as a stage of a path. LINK is the model's packets.h, and STAGE the name of the stage. */
#include LINK
#include "stage.h"

#ifndef LINK_AT_ONCE
#error "the link does not decide on a packet when the packet arrives"
#endif

static void *stage_open(const struct link_parameters *parameters)
{
    struct link *link = calloc(1, sizeof *link);
    if (link) link_init(link, parameters);
    return link;
}

/* Return the bytes that the link has lost by chance; 0 for a link without such losses. */
static int64_t stage_lost_by_chance(struct link *link, int64_t now)
{
#ifdef STAGE_LOSES_BY_CHANCE
    int64_t lost;
    link_columns(link, now, &lost);
    return lost;
#else
    (void)link, (void)now;
    return 0;
#endif
}

static struct stage_outcome stage_offer(void *state, int64_t now, int64_t size, int flow)
{
    struct link *link = state;
    struct link_outcome outcome;
    int64_t before = stage_lost_by_chance(link, now);
    if (!link_offer(link, now, size, flow))
        return (struct stage_outcome){1, stage_lost_by_chance(link, now) > before, -1, 0};
    if (!link_next(link, now, &outcome) || outcome.dropped != LINK_NEVER) abort();
    return (struct stage_outcome){0, 0, outcome.admitted, outcome.marked != 0};
}

static void stage_close(void *state)
{
#ifdef LINK_END
    link_end(state);
#endif
    free(state);
}

const struct stage STAGE = {stage_open, stage_offer, stage_close};

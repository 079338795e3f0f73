/* A link that loses packets by chance as they arrive, in front of a first-in first-out link with a buffer.
 *
 * An allowance bounds the losses. It grows by a share of each packet that arrives, up to the bytes of a burst, and each
 * lost byte takes one. So it bounds the losses of any interval by this share of the bytes that arrive, and a burst.
 *
 * A packet is lost by chance if the allowance is full, or with the share as probability, if the allowance has room for
 * it. Every other such loss begins a burst, in which packets are lost as long as the allowance has room. The link is
 * deterministic but for `draw`. `own` has the share, a numerator and a denominator, and the bytes of a burst. */
#include "link.h"

/* The first-in first-out link is that of CBR-delay, by another name. */
#define link drop_tail
#define link_init drop_tail_init
#define link_offer drop_tail_offer
#define link_next drop_tail_next
#define link_change drop_tail_change
#include "../cbr_delay/packets.h"
#undef link
#undef link_init
#undef link_offer
#undef link_next
#undef link_change

struct link {
    struct drop_tail queue;
    const int64_t *own;
    int64_t (*draw)(void *context, int64_t least, int64_t most);
    void *context;
    link_wide allowance; /* in bytes times the share's denominator */
    int bursts;          /* a burst of losses goes on */
    int64_t lost;        /* bytes lost by chance */
};

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.own = parameters->own, .draw = parameters->draw, .context = parameters->context};
    link->allowance = link->draw(link->context, 0, link->own[2]) * (link_wide)link->own[1];
    drop_tail_init(&link->queue, parameters);
}

/* Whether chance loses a packet that arrives. */
static int link_loses(struct link *link, int64_t size)
{
    int64_t numerator = link->own[0], denominator = link->own[1];
    link_wide most = (link_wide)link->own[2] * denominator, taken = (link_wide)size * denominator;
    link->allowance += (link_wide)size * numerator;
    if (link->allowance > most) link->allowance = most;
    if (taken > link->allowance) return link->bursts = 0;
    if (!link->bursts) {
        if (link->allowance < most && link->draw(link->context, 1, denominator) > numerator) return 0;
        link->bursts = link->draw(link->context, 0, 1) == 1;
    }
    link->allowance -= taken, link->lost += size;
    return 1;
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    return !link_loses(link, size) && drop_tail_offer(&link->queue, now, size, flow);
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    return drop_tail_next(&link->queue, now, outcome);
}

static void link_change(struct link *link, int64_t now, const struct link_parameters *is, int64_t waiting, int64_t last,
                        int64_t size)
{
    drop_tail_change(&link->queue, now, is, waiting, last, size);
}

/* The bytes that chance has lost. */
#define LINK_COLUMNS
static void link_columns(struct link *link, int64_t now, int64_t *values)
{
    (void)now;
    *values = link->lost;
}

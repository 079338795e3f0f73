/* A token-bucket policer in front of a bottleneck: packets that pass the policer join the bottleneck's drop-tail queue.
 * Both parts are the packets.h of their own models. A packet that the queue drops has used its tokens.
 *
 * Their names get prefixes here, so that one file can have both. */
#include "link.h"

#define link policer
#define link_init policer_init
#define link_room policer_room
#define link_refill policer_refill
#define link_offer policer_offer
#define link_next policer_next
#define link_change policer_change
#define link_columns policer_columns
#include "../policer/packets.h"
#undef link
#undef link_init
#undef link_room
#undef link_refill
#undef link_offer
#undef link_next
#undef link_change
#undef link_columns
#undef LINK_COLUMNS

#define link drop_tail
#define link_init drop_tail_init
#define link_backlog drop_tail_backlog
#define link_serve drop_tail_serve
#define link_offer drop_tail_offer
#define link_next drop_tail_next
#define link_change drop_tail_change
#include "../cbr_delay/packets.h"
#undef link
#undef link_init
#undef link_backlog
#undef link_serve
#undef link_offer
#undef link_next
#undef link_change

/* Neither the rate nor the buffer changes during a run. */
#undef LINK_CHANGE
#undef LINK_CHANGES

struct link {
    struct policer policer;
    struct drop_tail queue;
    struct link_rate *rates; /* of the tokens, in the period of `tokens_of` */
    int64_t lost;            /* bytes that the policer dropped */
};

/* Return the parameters of the policer: its tokens come at a share of the link's rate. */
static struct link_parameters tokens_of(struct link *link, const struct link_parameters *is)
{
    struct link_parameters tokens = *is;
    int count = 0;
    while (is->rates[count].time != LINK_NEVER) count++;
    free(link->rates);
    link->rates = calloc(count + 1, sizeof(struct link_rate));
    if (!link->rates) abort();
    for (int i = 0; i < count; i++)
        link->rates[i] = (struct link_rate){is->rates[i].time, is->rates[i].bytes * is->tokens[0]};
    link->rates[count].time = LINK_NEVER;
    tokens.rates = link->rates, tokens.period = is->period * is->tokens[1], tokens.buffer = is->bucket;
    return tokens;
}

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.rates = NULL};
    struct link_parameters tokens = tokens_of(link, parameters);
    policer_init(&link->policer, &tokens);
    drop_tail_init(&link->queue, parameters);
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    if (!policer_offer(&link->policer, now, size, flow)) {
        link->lost += size;
        return 0;
    }
    return drop_tail_offer(&link->queue, now, size, flow);
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    return drop_tail_next(&link->queue, now, outcome);
}

#define LINK_END
static void link_end(struct link *link)
{
    free(link->rates);
    link->rates = NULL;
}

/* The bytes of tokens in the bucket, and the bytes that the policer dropped. */
#define LINK_COLUMNS 2
static void link_columns(struct link *link, int64_t now, int64_t *values)
{
    policer_columns(&link->policer, now, &values[0]);
    values[1] = link->lost;
}

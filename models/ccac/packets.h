/* A first-in first-out link that may keep an unused token and admit a later packet with it, which hides congestion
 * (Arun et al., SIGCOMM 2021). Packets have one size.
 *
 * The link generates a token for each packet that it could serve. The head of the queue uses it at once. If no packet
 * waits, `keep` decides whether the token goes into the bucket, where it lives for D. Packets use the oldest token
 * first. A varying rate changes once per step, between C and γ·C, and a token comes at the end of each step. */
#include "link.h"

struct link {
    struct link_parameters is;
    int64_t tick, waiting, wastable; /* time of the next token; waiting packets; tokens that this step may waste */
    int64_t ready;                   /* the token of a packet admitted on arrival, else LINK_NEVER */
    int64_t at;                      /* its arrival time */
    int64_t *bucket, first, tokens, room; /* a ring of the times of kept tokens */
    int64_t spacing, per_step;       /* ticks for a packet at the rate C; packets in a step at that rate */
    int64_t least[2], count[2], index; /* the two parts of a step with a varying rate: length in packets, tokens */
};

static void link_rates(struct link *link, const struct link_parameters *is)
{
    link->is = *is;
    link->spacing = is->period;
    link->per_step = is->step / is->period;
    link->least[0] = link->least[1] = link->count[0] = link->count[1] = link->index = 0;
}

/* Ticks from one token to the next. */
static int64_t link_interval(struct link *link)
{
    const struct link_parameters *is = &link->is;
    if (is->variation[0] == is->variation[1]) return link->spacing;
    if (link->index == link->count[0] + link->count[1]) {
        int64_t early = is->draw(is->context, 0, link->per_step);
        link->least[0] = early, link->least[1] = link->per_step - early;
        link->index = 0;
        for (int i = 0; i < 2; i++) {
            int64_t least = link->least[i], most = least * is->variation[0] / is->variation[1];
            link->count[i] = 0;
            if (!least) continue;
            int64_t any = is->draw(is->context, least, most), choice = is->draw(is->context, 0, 2);
            link->count[i] = choice == 0 ? least : choice == 1 ? any : most;
        }
    }
    int part = link->index >= link->count[0];
    int64_t number = link->index++ - part * link->count[0], count = link->count[part];
    link_wide length = (link_wide)link->least[part] * link->spacing;
    return (int64_t)(length * (number + 1) / count) - (int64_t)(length * number / count);
}

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.ready = LINK_NEVER};
    link_rates(link, parameters);
    link->tick = link_interval(link);
}

#define LINK_END
static void link_end(struct link *link)
{
    free(link->bucket);
}

static int64_t link_kept(const struct link *link, int64_t i)
{
    return link->bucket[(link->first + i) % link->room];
}

static int64_t link_take(struct link *link)
{
    int64_t token = link_kept(link, 0);
    link->first++, link->tokens--;
    return token;
}

/* Keep a token; discard tokens that no later packet can use. */
static void link_keep(struct link *link, int64_t now)
{
    while (link->tokens && link_kept(link, 0) + link->is.jitter < now) link_take(link);
    if (link->tokens == link->room) {
        int64_t room = link->room ? 2 * link->room : 64, *bucket = malloc(room * sizeof *bucket);
        if (!bucket) abort();
        for (int64_t i = 0; i < link->tokens; i++) bucket[i] = link_kept(link, i);
        free(link->bucket);
        link->bucket = bucket, link->first = 0, link->room = room;
    }
    link->bucket[(link->first + link->tokens++) % link->room] = now;
}

/* The number of tokens that a step may waste and still end without a queue: no packet may later wait for one of them. */
#define LINK_EXPECT
static void link_expect(struct link *link, int64_t count, int64_t last)
{
    int64_t excess = count - link->per_step, usable = 0;
    if (excess <= 0) {
        link->wastable = link->per_step;
        return;
    }
    for (int64_t i = 0; i < link->tokens; i++) usable += link_kept(link, i) >= last - link->is.jitter;
    link->wastable = usable > excess ? usable - excess : 0;
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    const struct link_parameters *is = &link->is;
    if (link->ready != LINK_NEVER) {
        *outcome = (struct link_outcome){LINK_NEVER, link->at, link->ready};
        link->ready = LINK_NEVER;
        return 1;
    }
    while (link->tick <= now) {
        int64_t tick = link->tick, waits = link->waiting > 0;
        if (waits) link->waiting--;
        else if (tick == now || !link->wastable || is->keep(is->context, tick)) link_keep(link, tick);
        else link->wastable--;
        link->tick += link_interval(link);
        if (!waits) continue;
        *outcome = (struct link_outcome){LINK_NEVER, tick, tick};
        return 1;
    }
    return 0;
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    (void)flow;
    while (link->tokens && link_kept(link, 0) + link->is.jitter < now) link_take(link);
    if (link->tokens) link->ready = link_take(link), link->at = now;
    else if ((link->waiting + 1) * (link_wide)size <= link->is.buffer) link->waiting++;
    else return 0;
    return 1;
}

/* The bucket keeps at most D worth of tokens, the youngest. */
#define LINK_CHANGE
static void link_change(struct link *link, int64_t now, const struct link_parameters *is, int64_t waiting, int64_t last,
                        int64_t size)
{
    (void)waiting, (void)last, (void)size;
    link_rates(link, is);
    link->tick = now + link_interval(link);
    int64_t most = is->jitter / is->period;
    while (link->tokens > most) link_take(link);
}

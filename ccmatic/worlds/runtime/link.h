/* A bottleneck, packet by packet: the interface that a model's packets.h implements, for simulator and emulator.
 *
 * A link does no input and no output: instants and packets are arguments, in ticks and bytes, all whole numbers. A
 * packets.h defines `struct link` and
 *
 *   link_init    prepares a link, at instant 0.
 *   link_offer   a packet arrives: whether the link accepts it. Otherwise the packet is lost at once.
 *   link_next    the outcome of the first accepted packet that has none yet, if the packets offered so far and the
 *                instants up to `now` decide it. Before a packet is offered, link_next is called until it returns 0.
 *
 * It may define the macro LINK_AT_ONCE: link_next has the outcome of each packet once link_offer accepts it, for packets
 * of any sizes, and the link's only free choices are numbers that it draws. Emulators need this. It may also define, with a macro of the same name
 * in capitals,
 *
 *   LINK_CHANGES (a macro alone) the link obeys the buffer and the flush of each `struct link_rate`, and a rate of 0.
 *   link_end     frees memory.
 *   link_expect  the sender announces a step: `count` packets, the last at the instant `last`.
 *   link_columns the values at `now` of the columns that the model adds to traces, in bytes and in the model's order. If the
 *                model has more columns, the macro is the number of those that the link gives.
 *   link_change  the rate changes at `now`, while packets of `size` bytes wait, `waiting` in number. The last outcome
 *                that stands was at `last`. The link forgets the outcomes after `now`, and plans them again.
 */
#ifndef CCM_LINK_H
#define CCM_LINK_H

#include <stdint.h>
#include <stdlib.h>

#define LINK_NEVER INT64_MAX

typedef __int128 link_wide;

/* From `time` on the link serves `bytes` in each period, and `buffer` bytes may wait (0: as many as `link_parameters`
 * says). With `flush` the link drops, just after `time`, the packets that wait then. */
struct link_rate { int64_t time, bytes, buffer, flush; };

struct link_parameters {
    const struct link_rate *rates; /* one for each change that is known in advance; the last has the time LINK_NEVER */
    int64_t period;                /* ticks in which a rate's bytes are served */
    int64_t buffer;                /* bytes that may wait */
    int64_t threshold;             /* a packet is marked if, with it, more bytes wait; LINK_NEVER: none is */
    int at_start; /* a packet waits until its service begins, and is admitted then; else until its last byte is served */
    int64_t jitter, step;    /* D and R_m, in ticks */
    int64_t variation[2];    /* γ, a numerator and a denominator */
    int64_t bucket;          /* of a policer in front of the bottleneck: bytes of tokens that it holds */
    int64_t tokens[2];       /* and the rate of its tokens as a share of the link's: a numerator and a denominator */
    /* The link's free choices: whether it keeps an unused token at an instant, and any number in a range. */
    int (*keep)(void *context, int64_t now);
    int64_t (*draw)(void *context, int64_t least, int64_t most);
    void *context;
    const int64_t *own;      /* numbers of the model's own, in its order (`Model.link_numbers`) */
};

/* The outcome of an accepted packet: when the link drops it, or LINK_NEVER; else when it is admitted, and when the
 * token that it uses was generated. And whether the link marks it. */
struct link_outcome { int64_t dropped, admitted, token, marked; };

struct link;

static void link_init(struct link *link, const struct link_parameters *parameters);
static int link_offer(struct link *link, int64_t now, int64_t size, int flow);
static int link_next(struct link *link, int64_t now, struct link_outcome *outcome);

#endif

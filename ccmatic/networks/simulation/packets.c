/* A model's link for the simulator, a step of packets at a time. LINK is the model's packets.h. */
#include LINK

#define SEGMENTS 4

struct packets { struct link link; struct link_rate rates[SEGMENTS]; };

int64_t packets_size(void)
{
    return sizeof(struct packets);
}

/* Whether the link can be told that its rate changes. */
int packets_change_rate(void)
{
#ifdef LINK_CHANGE
    return 1;
#else
    return 0;
#endif
}

/* Whether rates may be known in advance, with buffers and flushes. */
int packets_changes(void)
{
#ifdef LINK_CHANGES
    return 1;
#else
    return 0;
#endif
}

static void set_rate(struct packets *packets, struct link_parameters *parameters, int64_t bytes)
{
    packets->rates[0] = (struct link_rate){0, bytes};
    packets->rates[1] = (struct link_rate){LINK_NEVER, 0};
    parameters->rates = packets->rates;
}

/* `parameters` are complete but for the rates: `bytes` in a period, and later the `count` given ones. */
void packets_begin(struct packets *packets, struct link_parameters *parameters, int64_t bytes,
                   const struct link_rate *later, int64_t count)
{
    set_rate(packets, parameters, bytes);
    for (int64_t i = 0; i < count && i < SEGMENTS - 2; i++) packets->rates[i + 1] = later[i];
    packets->rates[count + 1] = (struct link_rate){.time = LINK_NEVER};
    link_init(&packets->link, parameters);
}

void packets_end(struct packets *packets)
{
#ifdef LINK_END
    link_end(&packets->link);
#else
    (void)packets;
#endif
}

/* The values at `now` of the first columns that the model adds. Returns how many the link gives; all of them for -1. */
int packets_columns(struct packets *packets, int64_t now, int64_t *values)
{
#ifdef LINK_COLUMNS
    link_columns(&packets->link, now, values);
    return (LINK_COLUMNS + 0) ? (LINK_COLUMNS + 0) : -1;
#else
    (void)packets, (void)now, (void)values;
    return 0;
#endif
}

static int64_t report(struct packets *packets, int64_t now, struct link_outcome *outcomes, int64_t known)
{
    while (link_next(&packets->link, now, &outcomes[known])) known++;
    return known;
}

/* Packets of `size` bytes arrive, and the step is over at `end`. `accepted` tells of each whether the link accepts it,
 * `outcomes` what becomes of accepted packets, in order; their number is returned. */
int64_t packets_send(struct packets *packets, int64_t count, const int64_t *arrivals, const int *flows, int64_t size,
                     int64_t end, char *accepted, struct link_outcome *outcomes)
{
    int64_t known = 0;
#ifdef LINK_EXPECT
    link_expect(&packets->link, count, end);
#endif
    for (int64_t i = 0; i < count; i++) {
        known = report(packets, arrivals[i], outcomes, known);
        accepted[i] = link_offer(&packets->link, arrivals[i], size, flows[i]);
    }
    return report(packets, end, outcomes, known);
}

/* The rate changes; returns the number of outcomes that are planned again. */
int64_t packets_change(struct packets *packets, int64_t now, struct link_parameters *parameters, int64_t bytes,
                       int64_t waiting, int64_t last, struct link_outcome *outcomes)
{
#ifdef LINK_CHANGE
    set_rate(packets, parameters, bytes);
    link_change(&packets->link, now, parameters, waiting, last, bytes);
    return report(packets, now, outcomes, 0);
#else
    (void)packets, (void)now, (void)parameters, (void)bytes, (void)waiting, (void)last, (void)outcomes;
    return 0;
#endif
}

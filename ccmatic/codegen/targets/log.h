/* A log of steps, as CSV: a sender's ccm_record at the end of each. Times are those of CLOCK_MONOTONIC. */
#include <stdio.h>

static void log_names(FILE *log)
{
    fprintf(log, "time_ns,step_ns,packet,rate,sent,acked,lost,begun_again");
    for (unsigned i = 0; i < sizeof ccm_belief_names / sizeof *ccm_belief_names; i++)
        fprintf(log, ",%s", ccm_belief_names[i]);
    fprintf(log, "\n");
}

/* All that there is of a record are numbers of 64 bits. */
static void log_record(FILE *log, const struct ccm_record *record)
{
    const uint64_t *numbers = (const uint64_t *)record;
    for (unsigned i = 0; i < sizeof *record / sizeof *numbers; i++)
        fprintf(log, i ? ",%llu" : "%llu", (unsigned long long)numbers[i]);
    fprintf(log, "\n");
}

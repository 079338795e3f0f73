/* A log of steps, as CSV: a sender's ccm_record at the end of each. Times are those of CLOCK_MONOTONIC. */
#include <stdio.h>

static void log_names(FILE *log)
{
    fprintf(log, "time_ns,step_ns,packet,rate,sent,acked,lost," CCM_COLUMNS "\n");
}

/* All that there is of a record are numbers of 64 bits; state may be below 0. */
static void log_record(FILE *log, const struct ccm_record *record)
{
    const int64_t *numbers = (const int64_t *)record;
    for (unsigned i = 0; i < sizeof *record / sizeof *numbers; i++)
        fprintf(log, i ? ",%lld" : "%lld", (long long)numbers[i]);
    fprintf(log, "\n");
}

/* A log of steps, as CSV: one ccm_record of a sender per step. Times are those of CLOCK_MONOTONIC. */
#include <stdio.h>

#define LOG_NAMES "time_ns,step_ns,packet,rate,sent,acked,lost," CCM_COLUMNS "\n"

static void log_names(FILE *log)
{
    fputs(LOG_NAMES, log);
}

/* A record consists of 64-bit numbers, each of up to 20 characters. Only state variables may be negative. */
enum { LOG_NUMBERS = sizeof(struct ccm_record) / sizeof(int64_t), LOG_LINE = 21 * LOG_NUMBERS + 1 };

/* Write a record as a line, and return the length of the line. */
static size_t log_line(char line[LOG_LINE], const struct ccm_record *record)
{
    const int64_t *numbers = (const int64_t *)record;
    size_t length = 0;
    for (unsigned i = 0; i < LOG_NUMBERS; i++)
        length += (size_t)sprintf(line + length, i ? ",%lld" : "%lld", (long long)numbers[i]);
    line[length] = '\n';
    return length + 1;
}

static void log_record(FILE *log, const struct ccm_record *record)
{
    char line[LOG_LINE];
    fwrite(line, 1, log_line(line, record), log);
}

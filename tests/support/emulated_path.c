/* Decides as replay.c does, one packet at a time, so that a sender can wait for each decision.
 *
 * usage: emulated_path < configuration and packets
 *
 * For each packet, its arrival in ns and its bytes, the program prints the same numbers as replay.c, and the first
 * column that the model adds. */
#include "decisions.h"

int main(void)
{
    int64_t now, size, values[8] = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_config();
    while (scanf("%" SCNd64 " %" SCNd64, &now, &size) == 2) {
        struct decision decision = decide(now, size, -1);
#ifdef LINK_COLUMNS
        link_columns(&bottleneck, now, values);
#endif
        printf("%d %" PRId64 " %" PRId64 " %d %" PRId64 "\n", decision.lost, decision.admitted, decision.planned,
               decision.marked, values[0]);
    }
    return 0;
}

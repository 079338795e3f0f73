/* Repeats the decisions of an emulated link, to check the log of a run.
 *
 * usage: replay < configuration and packets
 *
 * After the configuration of decisions.h come the number of packets and, for each packet, its arrival in ns, its
 * bytes and its flow. The program prints for each packet: whether it is lost, when it is admitted, and when it is to
 * be released; both times are -1 if it is lost.
 */
#include "decisions.h"

int main(void)
{
    read_config();
    for (int64_t left = number(); left; left--) {
        int64_t now = number(), size = number();
        struct decision decision = decide(now, size, (int)number());
        printf("%d %" PRId64 " %" PRId64 " %d\n", decision.lost, decision.admitted, decision.planned, decision.marked);
    }
    return 0;
}

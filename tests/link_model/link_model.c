/* Drives the controller of HEADER over links of which all is known.
 *
 *   link_model SEED RUNS STEPS TROUBLES
 *
 * A run is of so many ends of steps, or of a week. TROUBLES: those of enum trouble that all runs have. Prints how many
 * ends of steps were judged, and the seconds of all runs; exits with 1 at the first false belief. */
#include HEADER
#include "link.h"
#include "scenario.h"
#include "judge.h"
#include "drive.h"

static void begin(uint64_t seed, unsigned troubles)
{
    drawn = draw(&path, seed, troubles);
    dice.state = any(&path.random) | 1;
    first_lost = revealed = next_lost = 0;
    steps = grace = kept = 0;
    at_once = drawn.bytes;
    packets = 1;
    told = false;
    last_sent = next_due = seen_start = clock_now = last_left = drawn.begins;
    ccm_init(&sender, drawn.begins, drawn.claimed, (uint32_t)drawn.bytes);
    ccm_more_jitter(&sender, drawn.burst);
    if (troubled(R_M_UNKNOWN) && drawn.claimed < drawn.R_m)
        begin_grace();
    next_trouble = troubled(SPURIOUS | R_M_FALLS | R_M_GROWS) ? drawn.begins + 50 * sender.step : never;
    ask_rate(drawn.begins);
    wake();
}

/* What happens first: acknowledgements before losses, both before packets, and the end of a step last. */
static void take_one_event(void)
{
    const uint64_t ack = path.pending ? of(&path, path.heap[0])->at : never;
    const uint64_t loss = first_lost < revealed ? of(&path, lost[first_lost % RING])->at : never;
    const uint64_t send = has ? due() : never, end = troubled(LAZY) ? never : sender.start + sender.step;
    uint64_t now = ack;

    now = loss < now ? loss : now;
    now = send < now ? send : now;
    now = wakes < now ? wakes : now;
    now = next_trouble < now ? next_trouble : now;
    now = end < now ? end : now;
    clock_now = now;
    if (now == ack)
        acknowledge(now);
    else if (now == loss)
        mark(of(&path, lost[first_lost++ % RING]), now, ccm_lost);
    else if (now == send)
        send_one(now);
    else if (now == wakes)
        wake();
    else if (now == next_trouble)
        befall(now);
    ask_rate(now);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const uint64_t seed = strtoull(argv[1], NULL, 0), runs = strtoull(argv[2], NULL, 0);
    const uint64_t length = strtoull(argv[3], NULL, 0);
    uint64_t seconds = 0;

    for (uint64_t run = 0; run < runs; run++) {
        begin(seed + run, (unsigned)strtoul(argv[4], NULL, 0));
        while (steps < length && clock_now - drawn.begins < 7 * 24 * HOUR)
            take_one_event();
        seconds += (clock_now - drawn.begins) / 1000000000;
    }
    printf("%" PRIu64 " %" PRIu64 "\n", judged, seconds);
    return 0;
}

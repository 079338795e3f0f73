/* A stateful sender in any order of events, at any times, of any size: nothing undefined happens, it may always send a
 * packet, and no more is kept than may be. usage: events SEED RUNS */
#include <stdio.h>
#include <stdlib.h>
#include HEADER

static uint64_t seed;

static uint64_t drawn(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 33;
}

/* Of any number of bits up to so many. */
static uint64_t any(unsigned bits)
{
    return (drawn() << 31 ^ drawn()) >> (62 - drawn() % bits % 62);
}

static void happen(struct ccm_sender *s, uint64_t now)
{
    switch (drawn() % 8) {
    case 0: ccm_rtt(s, any(40)); break;
    case 1: ccm_acked(s, now, now - any(20) % (now + 1), any(40)); break;
    case 2: ccm_found(s, now, now, any(20)); break;
    case 3: ccm_lost(s, now, now, any(40)); break;
    case 4: ccm_gave_up(s, now, now, any(40)); break;
    case 5: (void)ccm_rate(s, now); break;
    default: ccm_sent(s, now, any(40));
    }
}

static void judge(struct ccm_sender *s, uint64_t now)
{
    const int64_t *kept = (const int64_t *)&s->state;

    if (ccm_window(s, now) < s->packet || ccm_rate_per_step(s) < s->packet)
        exit(1);
    for (unsigned i = 0; i < sizeof s->state / sizeof *kept; i++)
        if (kept[i] > CCM_LARGEST || kept[i] < -CCM_LARGEST)
            exit(1);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    seed = strtoull(arguments[1], NULL, 10);
    for (long run = 0; run < atol(arguments[2]); run++) {
        struct ccm_sender s;
        uint64_t now = any(50);
        const uint64_t rtt = 1 + any(34), packet = 1 + any(16);

        (void)ccm_init(&s, now, rtt, (uint32_t)packet);
        if (drawn() % 4 == 0)
            ccm_guessed(&s);
        if (drawn() % 4 == 0)
            (void)ccm_fix_step(&s, any(44));
        for (int event = 0; event < 300; event++) {
            now += drawn() % 50 ? any(30) : any(55);
            happen(&s, now);
            judge(&s, now);
        }
    }
    puts("well");
    return 0;
}

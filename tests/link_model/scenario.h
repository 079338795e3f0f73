/* What happens in one run, drawn from its seed: the link, the application, what the sender knows, what befalls it. */

/* What may befall a sender, besides a link of any rate, R_m and buffer and any jitter within D. */
enum trouble {
    IDLE = 1,       /* the application has nothing to send for a while */
    REORDERING = 2, /* within D */
    LATE_LOSS = 4,  /* losses are found steps after they could be */
    SPURIOUS = 8,   /* all that is in flight is marked lost, then acknowledged */
    R_M_FALLS = 16, /* the path gets shorter */
    R_M_GROWS = 32, /* the path gets longer */
    R_M_UNKNOWN = 64, /* the sender begins with another R_m, larger or smaller */
    LAZY = 128,        /* the sender acts on events only, not at the ends of steps */
    MERGED_ACKS = 256, /* packets that arrive at once are acknowledged as one */
    ANY_RATE = 512,    /* the sender does not follow its controller: its rate is another in each step */
    HOURS = 1024,      /* as IDLE, for up to an hour */
    TIMER = 2048,      /* packets leave when ccm_next says, some after the time that the sender is told */
    BURSTS = 4096,     /* as TIMER, and all at once that the rate lets it send in a time that is part of D */
};

#define LONGEST_R_M UINT64_C(2000000000)
#define HOUR UINT64_C(3600000000000)

struct scenario {
    uint64_t seed, begins, bytes, R_m, claimed; /* bytes: of a packet; claimed: the R_m that the sender begins with */
    unsigned troubles;
    uint64_t loss_wait;
    uint32_t burst; /* the time that packets sent at once take at the rate, ns */
};

static uint64_t jitter_of(uint64_t R_m)
{
    return R_m * (CCM_STEP_NUMERATOR - CCM_STEP_DENOMINATOR) / CCM_STEP_DENOMINATOR;
}

/* R_m and the D that goes with it. */
static void lengthen(struct link *l, uint64_t R_m)
{
    l->R_m = R_m;
    const uint64_t late = jitter_of(R_m) / 16;
    l->late = !l->timed ? 0 : late < l->tx ? late : l->tx;
    l->D = jitter_of(R_m) - l->late;
    l->period = between(&l->random, 1, l->D + 1);
}

/* 10 us to 2 s, 1 kbit/s to 100 Gbit/s; a packet is small enough for the models, which want five in a step at least,
 * and what a step carries stays below CCM_MOST, as they claim no faster link. */
static struct scenario draw(struct link *l, uint64_t seed, unsigned troubles)
{
    struct scenario s = {.seed = seed, .troubles = troubles};
    struct random *r = &l->random;

    memset(l, 0, sizeof *l);
    r->state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < 8; i++)
        any(r);
    s.R_m = spread(r, 10000, LONGEST_R_M);
    const uint64_t step = s.R_m + jitter_of(s.R_m), packets = between(r, 6, between(r, 6, 60));
    l->tx = step / packets < s.R_m ? step / packets : s.R_m;
    const unsigned __int128 bytes = (unsigned __int128)spread(r, 125, UINT64_C(12500000000)) * l->tx / 1000000000;
    const uint64_t most = CCM_MOST / 128 < UINT32_MAX ? CCM_MOST / 128 : UINT32_MAX;
    s.bytes = bytes < 1 ? 1 : bytes > most ? most : (uint64_t)bytes;
    l->timed = troubles & TIMER;
    lengthen(l, s.R_m);
    l->jitter = (enum jitter)between(r, 0, JITTERS - 1);
    l->reorders = troubles & REORDERING;
    l->buffer = between(r, 0, 3) ? between(r, 1, 4 * packets) : 3000;
    s.loss_wait = l->reorders ? l->D : 0;
    if (troubles & LATE_LOSS)
        s.loss_wait += between(r, 0, 3 * step);
    if (troubles & BURSTS)
        s.burst = (uint32_t)between(r, 1, s.R_m / 2);
    s.claimed = s.R_m;
    if (troubles & R_M_UNKNOWN)
        s.claimed = between(r, 0, 1) ? s.R_m * between(r, 2, 50) : 1 + s.R_m / between(r, 2, 50);
    s.begins = between(r, 0, 1) ? 0 : any(r) >> 1;
    return s;
}

/* Runs ngtcp2, client and server, over the path of ccmatic: each line of the input names the folder of a scenario. */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; ngtcp2_cc_algo algorithm; } controllers[] = {
    {"reno", NGTCP2_CC_ALGO_RENO},
    {"cubic", NGTCP2_CC_ALGO_CUBIC},
    {"bbr", NGTCP2_CC_ALGO_BBR},
#if NGTCP2_VERSION_NUM < 0x010000
    {"bbr2", NGTCP2_CC_ALGO_BBR2},
#endif
};

static void handle(struct flow *flow, struct setup *setup, const struct path_event *event, int64_t now)
{
    switch (event->kind) {
    case PATH_START: flow_start(flow, setup, event->flow, now); break;
    case PATH_STOP: flow->stopped = 1; break;
    case PATH_DATA:
    case PATH_REPLY: flow_receive(flow, event, now); break;
    case PATH_APPLICATION:
        if (flow->started) flow_offer(flow, now);
        break;
    }
}

/* Let the connections do at `now` whatever they have to do. */
static void settle(struct flow *flows, int64_t count, int64_t now)
{
    for (int64_t i = 0; i < count; ++i) {
        if (flows[i].started) {
            flow_transmit(&flows[i], now);
            flow_sample(&flows[i], now);
        }
    }
}

static const char *play(struct path *path, struct setup *setup)
{
    static char failure[256];
    int64_t count = path_flows(path), end = path_end(path);
    struct flow *flows = calloc(count ? count : 1, sizeof *flows);
    for (int64_t now = 0; now < end;) {
        struct path_event event;
        while (path_receive(path, now, &event)) {
            handle(&flows[event.flow], setup, &event, now);
            settle(flows, count, now);
        }
        settle(flows, count, now);
        int64_t next = path_next(path);
        for (int64_t i = 0; i < count; ++i) {
            int64_t expiry = flow_expiry(&flows[i]);
            if (expiry < next) next = expiry;
        }
        now = next > now ? next : now + 1;
    }
    failure[0] = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (!failure[0]) strcpy(failure, flows[i].failure);
        flow_close(&flows[i]);
    }
    free(flows);
    return failure[0] ? failure : NULL;
}

static int run(const char *folder)
{
    struct path *path = path_open(folder);
    if (!path) return fprintf(stderr, "%s\n", path_error()), 1;
    const char *failure = "refused: QUIC needs packets of at least 1228 bytes";
    if (path_packet(path) >= 1200 + HEADERS) {
        failure = "refused: no such controller";
        for (size_t i = 0; i < sizeof controllers / sizeof *controllers; ++i) {
            if (strcmp(path_controller(path), controllers[i].name)) continue;
            struct setup setup;
            setup_open(&setup, path, controllers[i].algorithm);
            failure = play(path, &setup);
            setup_close(&setup);
        }
    }
    int wrong = path_close(path, failure);
    if (failure) printf("{\"failure\": \"%s\"}\n", failure);
    else puts("{\"failure\": null}");
    fflush(stdout);
    return wrong;
}

int main(void)
{
    char folder[4096];
    while (fgets(folder, sizeof folder, stdin)) {
        folder[strcspn(folder, "\n")] = 0;
        run(folder);
    }
    return 0;
}

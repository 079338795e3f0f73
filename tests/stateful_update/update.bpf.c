/* What a controller's header makes of a step, as a program of its own that the kernel runs when asked. */
#include "kernel.h"

enum { BPF_MAP_TYPE_ARRAY = 2 };

struct asked {
    struct ccm_seen seen;
    uint64_t window, rate;
    struct ccm_sender sender;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, int);
    __type(value, struct asked);
} all SEC(".maps");

SEC("syscall")
int step(void *context)
{
    int first = 0;
    struct asked *asked = bpf_map_lookup_elem(&all, &first);

    if (!asked)
        return 1;
    ccm_end_step(&asked->sender, &asked->seen);
    asked->window = ccm_window(&asked->sender, 0);
    asked->rate = ccm_rate_per_step(&asked->sender);
    return 0;
}

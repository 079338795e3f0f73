/* A model's link behind calls, so that a path may have links of several models (stage.c). */
#ifndef CCM_STAGE_H
#define CCM_STAGE_H

#include "link.h"

/* What a stage does with a packet. `by_chance`: the link lost the packet by chance. */
struct stage_outcome { int lost, by_chance; int64_t admitted; int marked; };

/* The calls of a link: `open` copies the parameters, and returns NULL if there is no memory. */
struct stage {
    void *(*open)(const struct link_parameters *parameters);
    struct stage_outcome (*offer)(void *link, int64_t now, int64_t size, int flow);
    void (*close)(void *link);
};

/* A drop-tail link that may mark, the same link behind losses by chance, and the bucket of a policer. */
extern const struct stage stage_drop_tail, stage_chance, stage_bucket;

#endif

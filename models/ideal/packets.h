/* The link of CBR-delay. Without jitter, no box follows it. */
#include "../cbr_delay/packets.h"

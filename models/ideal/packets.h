/* The link of CBR-delay; without jitter nothing is behind it. */
#include "../cbr_delay/packets.h"

/* Runs a controller alone over a path. */
#ifndef RUN_H
#define RUN_H

#include "recovery.h"

/* Run the scenario in a folder with the controllers of a library, and print the line that ends a run. Returns 0, or -1
 * if the scenario cannot be read. */
int run_scenario(const char *folder, const struct recovery_library *library);

#endif

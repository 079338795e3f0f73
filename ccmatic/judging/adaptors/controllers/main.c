/* Runs controllers alone: each line of the input names the folder of a scenario.
 *
 * usage: controllers LIBRARY.so
 */
#include <stdio.h>

#include "run.h"

int main(int count, char **arguments)
{
    struct recovery_library library;
    const char *reason;
    char folder[4096];
    if (count != 2) return fprintf(stderr, "usage: controllers LIBRARY.so\n"), 2;
    if (recovery_load(&library, arguments[1], &reason)) return fprintf(stderr, "%s: %s\n", arguments[1], reason), 2;
    while (fgets(folder, sizeof folder, stdin)) {
        folder[strcspn(folder, "\n")] = 0;
        if (run_scenario(folder, &library)) return 2;
    }
    return 0;
}

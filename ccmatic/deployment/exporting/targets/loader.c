/* Registers the congestion control in OBJECT, @NAME@.bpf.o, while this program runs: the kernel removes it when this
 * process ends, however it ends. The program prints "ready" once the control is registered. It writes the record of
 * each step of its flows to the file LOG, as CSV.
 *
 * usage: loader OBJECT [LOG]
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include "@NAME@.h"
#include "log.h"

/* Constants of Linux 6.4. */
enum { CCM_F_LINK = 1 << 13, CCM_STRUCT_OPS = 44 };
enum { LOOK_MS = 100 };

static char messages[65536]; /* messages of libbpf and the kernel */

static int keep(enum libbpf_print_level level, const char *format, va_list arguments)
{
    size_t length = strlen(messages);
    return level == LIBBPF_DEBUG ? 0 : vsnprintf(messages + length, sizeof messages - length, format, arguments);
}

/* The verifier prints its reason before its statistics. The other lines are the instructions that led there. */
static bool is_reason(const char *line)
{
    return *line && !isdigit(*line) && *line != ';' && strncmp(line, "libbpf:", 7) && strncmp(line, "processed ", 10) &&
           strncmp(line, "-- ", 3);
}

static const char *reason(void)
{
    const char *found = strerror(errno);
    for (char *line = strtok(messages, "\n"); line; line = strtok(NULL, "\n"))
        if (is_reason(line))
            found = line;
    return found;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static struct bpf_map *operations(struct bpf_object *object)
{
    struct bpf_map *map = NULL;
    while ((map = bpf_object__next_map(object, map)) && bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
        ;
    return map;
}

static bool attached(struct bpf_map *map)
{
    if (!bpf_map__attach_struct_ops(map))
        return false;
#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 2
    return bpf_link_create(bpf_map__fd(map), 0, CCM_STRUCT_OPS, NULL) >= 0;
#else
    return true;
#endif
}

static struct bpf_object *load(const char *file)
{
    struct bpf_object *object = bpf_object__open_file(file, NULL);
    struct bpf_map *map = object ? operations(object) : NULL;
    if (!map)
        fail(file, "no congestion control");
    bpf_map__set_map_flags(map, CCM_F_LINK);
    if (bpf_object__load(object) || !attached(map))
        fail("the kernel refused it", reason());
    return object;
}

static int take(void *log, void *record, size_t size)
{
    (void)size;
    if (log)
        log_record(log, record);
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 2)
        fail("usage", "loader OBJECT [LOG]");
    FILE *log = count > 2 ? fopen(arguments[2], "w") : NULL;
    if (count > 2 && !log)
        fail(arguments[2], strerror(errno));
    libbpf_set_print(keep);
    struct bpf_object *object = load(arguments[1]);
    struct ring_buffer *records =
        ring_buffer__new(bpf_object__find_map_fd_by_name(object, "records"), take, log, NULL);
    if (!records)
        fail("no log of flows", strerror(errno));
    if (log) {
        setvbuf(log, NULL, _IOLBF, 0);
        log_names(log);
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        int taken = ring_buffer__poll(records, LOOK_MS);
        if (taken < 0 && taken != -EINTR)
            fail("no log of flows", strerror(-taken));
    }
}

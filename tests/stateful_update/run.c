/* Runs the program in a BPF object for each record of the standard input, and gives back what it made of it.
 * usage: run OBJECT */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    struct bpf_object *object = count == 2 ? bpf_object__open_file(arguments[1], NULL) : NULL;
    static char record[1 << 16];
    int first = 0;

    struct bpf_program *each, *step = object ? bpf_object__find_program_by_name(object, "step") : NULL;

    if (!step)
        return 1;
    bpf_object__for_each_program(each, object)
        bpf_program__set_autoload(each, each == step); /* kernel.h has more, which only congestion controls can load */
    if (bpf_object__load(object))
        return 1;
    struct bpf_map *all = bpf_object__find_map_by_name(object, "all");
    int program = bpf_program__fd(step);
    size_t size = bpf_map__value_size(all);
    while (size <= sizeof record && fread(record, size, 1, stdin) == 1) {
        LIBBPF_OPTS(bpf_test_run_opts, options);

        if (bpf_map_update_elem(bpf_map__fd(all), &first, record, 0) || bpf_prog_test_run_opts(program, &options) ||
            options.retval || bpf_map_lookup_elem(bpf_map__fd(all), &first, record))
            return 1;
        if (fwrite(record, size, 1, stdout) != 1)
            return 1;
    }
    return 0;
}

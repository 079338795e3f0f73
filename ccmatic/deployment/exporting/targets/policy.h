/* The source of the wanted rate in the envelope: a function in a C file, or a process at a pipe.
 *
 * make POLICY=FILE: the file defines
 *     static uint64_t wanted(const struct ccm_record *record);
 * It is called at the end of each step with that step's record. It returns the rate wanted for the next step, in
 * bytes per second.
 *
 * --policy COMMAND: the shell runs COMMAND. The command reads lines of CSV, as in logs: first a line of names, then
 * one line per step. For each step it writes a line: the wanted rate of the next step that begins. A sender with
 * CCM_TOLD begins with the first such line, and follows every line as soon as it comes.
 */
static struct {
    int socket; /* the socket to the process */
    char line[64]; /* the part of its line that has arrived */
    size_t length;
    uint64_t last; /* the rate that it wanted last */
} policy = {.last = UINT64_MAX};

#ifdef CCM_POLICY
#include CCM_POLICY
enum { BUILT_IN = 1 };
#else
enum { BUILT_IN = 0 };
static uint64_t wanted(const struct ccm_record *record)
{
    (void)record;
    return UINT64_MAX;
}
#endif

static void policy_write(const char *text, size_t length)
{
    if (send(policy.socket, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
        fail("the policy does not read", strerror(errno));
}

/* Start the process if there is a command. The process ends when this one does, because its input ends. */
static void policy_begin(const char *command)
{
    static const char names[] = LOG_NAMES;
    int ends[2];

    if (!command == !BUILT_IN)
        fail("usage", BUILT_IN ? "it has a policy already" : "an envelope needs --policy COMMAND, or make POLICY=FILE");
    if (!command)
        return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        fail("cannot start the policy", strerror(errno));
    policy.socket = ends[0];
    if (!fork()) {
        const struct sched_param last = {0};
        (void)sched_setscheduler(0, SCHED_OTHER, &last);
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    policy_write(names, sizeof names - 1);
}

/* Read what the process has written since the last call. Fail if it has ended. */
static void policy_read(void)
{
    char c;
    ssize_t read;

    while ((read = recv(policy.socket, &c, 1, MSG_DONTWAIT)) == 1) {
        if (c != '\n' && policy.length + 1 < sizeof policy.line) {
            policy.line[policy.length++] = c;
            continue;
        }
        policy.line[policy.length] = 0;
        policy.last = number(policy.line, UINT64_MAX);
        policy.length = 0;
    }
    if (!read)
        fail("the policy has ended", "expected a line for each step, the rate that is wanted in bytes per second");
}

#ifdef CCM_TOLD
/* Wait for the first rate that the process writes. */
static void policy_first(void)
{
    struct pollfd told = {.fd = policy.socket, .events = POLLIN};

    while (policy.last == UINT64_MAX && poll(&told, 1, -1) > 0)
        policy_read();
}
#endif

/* Return the rate wanted for the step after this record, in bytes per second. */
static uint64_t policy_wants(const struct ccm_record *record)
{
    char line[LOG_LINE];

    if (BUILT_IN)
        return wanted(record);
    policy_read();
    policy_write(line, log_line(line, record));
    return policy.last;
}

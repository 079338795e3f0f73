/* Runs a command that is killed when the process that started it ends, however it ends.
 *
 * usage: tied COMMAND [ARGUMENT…]
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    if (count < 2) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 127;
}

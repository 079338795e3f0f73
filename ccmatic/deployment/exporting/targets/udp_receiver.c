/* Acknowledges each packet of one udp_sender at once. Usage: udp_receiver PORT
 * Prints a line of JSON when it is ready. When SIGINT or SIGTERM ends it, it prints a line of what it received. */
#define _GNU_SOURCE
#include "udp.h"

/* The packets received from one sender: the highest number, which of the 64 before it, and how many were marked. */
struct arrivals {
    struct sockaddr_in sender;
    uint64_t highest, received, marked;
};

/* Receive a packet: its bytes, its sender, and whether it is marked. */
static ssize_t receive(int link, void *bytes, size_t size, struct sockaddr_in *from, int *marked)
{
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {bytes, size};
    struct msghdr message = {
        .msg_name = from, .msg_namelen = sizeof *from, .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control, .msg_controllen = sizeof control,
    };
    ssize_t length = recvmsg(link, &message, 0);
    struct cmsghdr *field = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
    *marked = field && field->cmsg_level == IPPROTO_IP && field->cmsg_type == IP_TOS
           && (*CMSG_DATA(field) & ECN_MARKED) == ECN_MARKED;
    return length;
}

static void record_packet(struct arrivals *arrivals, const struct sockaddr_in *from, uint64_t seq, int marked)
{
    const struct sockaddr_in *sender = &arrivals->sender;

    if (seq == 0 || from->sin_port != sender->sin_port || from->sin_addr.s_addr != sender->sin_addr.s_addr) {
        arrivals->sender = *from;
        arrivals->highest = seq;
        arrivals->received = arrivals->marked = 0;
    } else if (seq > arrivals->highest) {
        uint64_t ahead = seq - arrivals->highest;
        uint64_t before = ahead < 64 ? arrivals->received << ahead : 0;
        arrivals->received = ahead <= 64 ? before | 1ull << (ahead - 1) : 0;
        arrivals->highest = seq;
    } else if (seq < arrivals->highest && arrivals->highest - seq <= 64) {
        arrivals->received |= 1ull << (arrivals->highest - seq - 1);
    }
    arrivals->marked += (uint64_t)marked;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        fail("usage", "udp_receiver PORT");
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(argv[1], 65535))};
    struct timeval wait = {.tv_usec = 100000};
    int link = socket(AF_INET, SOCK_DGRAM, 0), on = 1, marked;
    widen(link);
    setsockopt(link, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (bind(link, (struct sockaddr *)&here, sizeof here))
        fail("cannot listen, is the port in use?", argv[1]);
    begin();
    printf("{\"port\": %d}\n", ntohs(here.sin_port));
    fflush(stdout);

    static char bytes[65536];
    struct arrivals arrivals = {0};
    uint64_t packets = 0, total = 0;
    while (!stopped) {
        struct sockaddr_in from;
        ssize_t length = receive(link, bytes, sizeof bytes, &from, &marked);
        if (length < (ssize_t)sizeof(struct packet))
            continue;
        struct packet packet;
        memcpy(&packet, bytes, sizeof packet);
        record_packet(&arrivals, &from, be64toh(packet.seq), marked);
        struct ack ack = {
            packet.seq, htobe64(arrivals.highest), htobe64(arrivals.received), htobe64(arrivals.marked),
        };
        (void)sendto(link, &ack, sizeof ack, MSG_DONTWAIT, (struct sockaddr *)&from, sizeof from);
        packets++;
        total += (uint64_t)length + HEADERS;
    }
    printf("{\"packets\": %llu, \"bytes\": %llu}\n", (unsigned long long)packets, (unsigned long long)total);
    return 0;
}

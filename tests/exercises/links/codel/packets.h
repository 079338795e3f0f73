/* A link of constant rate whose queue is managed by CoDel (RFC 8289): head drop, with an interval of R_m and a target of a
 * twentieth of it, at least the time in which a packet is served. A full buffer drops what comes. */
#include "link.h"

struct item { int64_t arrival, size; struct link_outcome outcome; };

/* Items from `first` on have no reported outcome; those from `head` to `end` wait. */
struct link {
    struct link_parameters is;
    struct item *items;
    int64_t first, head, end, room;
    int64_t waiting, idle;           /* bytes; when the link has served what it took from the queue */
    int64_t above, drop_next, count, last_count;
    int dropping;
};

static void link_init(struct link *link, const struct link_parameters *parameters)
{
    *link = (struct link){.is = *parameters};
}

#define LINK_END
static void link_end(struct link *link)
{
    free(link->items);
}

static struct item *item_of(struct link *link, int64_t number)
{
    return &link->items[number % link->room];
}

static int link_offer(struct link *link, int64_t now, int64_t size, int flow)
{
    (void)flow;
    if (link->waiting + size > link->is.buffer) return 0;
    if (link->end - link->first == link->room) {
        int64_t room = link->room ? 2 * link->room : 64, count = link->end - link->first;
        struct item *items = malloc(room * sizeof *items);
        if (!items) abort();
        for (int64_t i = 0; i < count; i++) items[i] = *item_of(link, link->first + i);
        free(link->items);
        link->head -= link->first, link->end = count, link->first = 0;
        link->items = items, link->room = room;
    }
    *item_of(link, link->end++) = (struct item){now, size, {0}};
    link->waiting += size;
    return 1;
}

static int64_t service(const struct link *link, int64_t size)
{
    return (int64_t)(((link_wide)size * link->is.period + link->is.rates[0].bytes - 1) / link->is.rates[0].bytes);
}

/* interval / sqrt(count), rounded down. */
static int64_t control_law(const struct link *link)
{
    link_wide square = (link_wide)link->is.step * link->is.step / link->count;
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << 62; bit; bit >>= 1)
        if ((link_wide)(root | bit) * (root | bit) <= square) root |= bit;
    return root;
}

/* Take the head of the queue, which is not empty; whether it may be dropped. */
static int take(struct link *link, int64_t now, struct item **item)
{
    *item = item_of(link, link->head++);
    link->waiting -= (*item)->size;
    int64_t target = link->is.step / 20, least = service(link, (*item)->size);
    if (target < least) target = least;
    if (now - (*item)->arrival < target || link->waiting <= (*item)->size) {
        link->above = 0;
        return 0;
    }
    if (!link->above) link->above = now + link->is.step;
    return now >= link->above;
}

static void drop(struct item *item, int64_t now)
{
    item->outcome = (struct link_outcome){now, 0, 0};
}

/* Take packets from the queue up to one that is served. */
static void dequeue(struct link *link, int64_t now)
{
    struct item *item;
    int may_drop = take(link, now, &item);
    if (link->dropping) {
        if (!may_drop) link->dropping = 0;
        while (link->dropping && now >= link->drop_next) {
            drop(item, now);
            link->count++;
            if (take(link, now, &item)) link->drop_next += control_law(link);
            else link->dropping = 0;
        }
    } else if (may_drop) {
        drop(item, now);
        take(link, now, &item);
        link->dropping = 1;
        int64_t more = link->count - link->last_count;
        link->count = more > 1 && now - link->drop_next < 16 * link->is.step ? more : 1;
        link->drop_next = now + control_law(link);
        link->last_count = link->count;
    }
    link->idle = now + service(link, item->size);
    int64_t admitted = link->is.at_start ? now : link->idle;
    item->outcome = (struct link_outcome){LINK_NEVER, admitted, admitted};
}

static int link_next(struct link *link, int64_t now, struct link_outcome *outcome)
{
    if (link->first == link->head) {
        if (link->head == link->end) return 0;
        int64_t arrival = item_of(link, link->head)->arrival, start = link->idle > arrival ? link->idle : arrival;
        if (start > now) return 0;
        dequeue(link, start);
    }
    *outcome = item_of(link, link->first++)->outcome;
    return 1;
}

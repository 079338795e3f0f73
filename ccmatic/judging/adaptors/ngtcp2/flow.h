/* A flow: a client of ngtcp2 that sends one stream, and its server. */
#ifndef FLOW_H
#define FLOW_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <path.h>

enum { HEADERS = 28, LARGEST = 65536 };

/* A packet on its way, with its number on the path. */
struct packet { int64_t number; size_t size; uint8_t *data; };

/* The packets of one direction, in order. */
struct queue { struct packet *packets; size_t first, last, room; };

struct endpoint {
    ngtcp2_conn *connection; /* NULL: the server has seen no packet */
    ngtcp2_crypto_conn_ref reference;
    gnutls_session_t session;
    struct flow *flow;
    int server;
};

struct flow {
    struct endpoint client, server;
    struct queue data, replies;
    int number, started, stopped;
    int64_t stream;         /* -1 until the handshake ends */
    int64_t offer, limited; /* bytes that the application offers in limited phases, and that the client took of them */
    struct setup *setup;
    char failure[256];
};

/* What all flows of a run share. */
struct setup {
    struct path *path;
    ngtcp2_cc_algo algorithm;
    size_t payload; /* bytes of the largest UDP payload */
    uint64_t random;
    gnutls_certificate_credentials_t client, server;
};

void setup_open(struct setup *setup, struct path *path, ngtcp2_cc_algo algorithm);
void setup_close(struct setup *setup);

void flow_start(struct flow *flow, struct setup *setup, int number, int64_t now);
void flow_offer(struct flow *flow, int64_t now);
void flow_receive(struct flow *flow, const struct path_event *event, int64_t now);
void flow_transmit(struct flow *flow, int64_t now);
void flow_sample(const struct flow *flow, int64_t now);
int64_t flow_expiry(const struct flow *flow);
void flow_close(struct flow *flow);

#endif

#include "flow.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What applications send. No page of it is ever written. */
static uint8_t zeros[1 << 20];

/* ---- what all flows share ---- */

/* Make a certificate of the server. Nobody checks it, and its size is the same in every run. */
static void certify(gnutls_certificate_credentials_t credentials)
{
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
    gnutls_x509_privkey_init(&key);
    gnutls_x509_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519, 0, 0);
    gnutls_x509_crt_init(&certificate);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\1", 1);
    gnutls_x509_crt_set_activation_time(certificate, 0);
    gnutls_x509_crt_set_expiration_time(certificate, INT32_MAX);
    gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, "ccmatic", 7);
    gnutls_x509_crt_set_key(certificate, key);
    gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA512, 0);
    gnutls_certificate_set_x509_key(credentials, &certificate, 1, key);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

void setup_open(struct setup *setup, struct path *path, ngtcp2_cc_algo algorithm)
{
    *setup = (struct setup){.path = path, .algorithm = algorithm, .random = path_seed(path)};
    setup->payload = path_packet(path) - HEADERS;
    gnutls_certificate_allocate_credentials(&setup->client);
    gnutls_certificate_allocate_credentials(&setup->server);
    certify(setup->server);
}

void setup_close(struct setup *setup)
{
    gnutls_certificate_free_credentials(setup->client);
    gnutls_certificate_free_credentials(setup->server);
}

/* Fill bytes from the seed of the run (splitmix64). */
static void fill(struct setup *setup, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint64_t z = setup->random += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        bytes[i] = (uint8_t)(z >> 56);
    }
}

static ngtcp2_cid draw(struct setup *setup)
{
    ngtcp2_cid id = {.datalen = 8};
    fill(setup, id.data, id.datalen);
    return id;
}

/* ---- callbacks ---- */

static void on_rand(uint8_t *bytes, size_t count, const ngtcp2_rand_ctx *context)
{
    fill(context->native_handle, bytes, count);
}

static int on_new_id(ngtcp2_conn *connection, ngtcp2_cid *id, uint8_t *token, size_t size, void *user)
{
    struct endpoint *endpoint = user;
    (void)connection;
    id->datalen = size;
    fill(endpoint->flow->setup, id->data, size);
    fill(endpoint->flow->setup, token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int on_stream_data(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
                          size_t size, void *user, void *stream_user)
{
    (void)flags, (void)offset, (void)data, (void)user, (void)stream_user;
    ngtcp2_conn_extend_max_stream_offset(connection, stream, size);
    ngtcp2_conn_extend_max_offset(connection, size);
    return 0;
}

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference)
{
    return ((struct endpoint *)reference->user_data)->connection;
}

/* ---- connections ---- */

static ngtcp2_path addresses(int server)
{
    static struct sockaddr_in hosts[2] = {{.sin_family = AF_INET, .sin_port = 443}, {.sin_family = AF_INET, .sin_port = 443}};
    hosts[0].sin_addr.s_addr = htonl(0x0a000001), hosts[1].sin_addr.s_addr = htonl(0x0a000002);
    return (ngtcp2_path){
        .local = {(struct sockaddr *)&hosts[server], sizeof hosts[0]},
        .remote = {(struct sockaddr *)&hosts[!server], sizeof hosts[0]},
    };
}

static void secure(struct endpoint *endpoint)
{
    static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:"
                                   "%DISABLE_TLS13_COMPAT_MODE";
    const gnutls_datum_t protocol = {(unsigned char *)"ccmatic", 7};
    struct setup *setup = endpoint->flow->setup;
    gnutls_init(&endpoint->session, (endpoint->server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NO_TICKETS);
    gnutls_priority_set_direct(endpoint->session, priority, NULL);
    if (endpoint->server) ngtcp2_crypto_gnutls_configure_server_session(endpoint->session);
    else ngtcp2_crypto_gnutls_configure_client_session(endpoint->session);
    endpoint->reference = (ngtcp2_crypto_conn_ref){connection_of, endpoint};
    gnutls_session_set_ptr(endpoint->session, &endpoint->reference);
    gnutls_credentials_set(endpoint->session, GNUTLS_CRD_CERTIFICATE, endpoint->server ? setup->server : setup->client);
    gnutls_alpn_set_protocols(endpoint->session, &protocol, 1, GNUTLS_ALPN_MANDATORY);
    ngtcp2_conn_set_tls_native_handle(endpoint->connection, endpoint->session);
}

/* Open a connection. A server answers the packet whose header it gets. */
static void begin(struct endpoint *endpoint, struct flow *flow, const ngtcp2_pkt_hd *header, int64_t now)
{
    struct setup *setup = flow->setup;
    const ngtcp2_callbacks callbacks = {
        .client_initial = ngtcp2_crypto_client_initial_cb,
        .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = ngtcp2_crypto_encrypt_cb,
        .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb,
        .recv_stream_data = on_stream_data,
        .recv_retry = ngtcp2_crypto_recv_retry_cb,
        .rand = on_rand,
        .get_new_connection_id = on_new_id,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
    };
    ngtcp2_settings settings;
    ngtcp2_transport_params parameters;
    ngtcp2_settings_default(&settings);
    settings.cc_algo = setup->algorithm;
    settings.initial_ts = now;
    settings.max_tx_udp_payload_size = setup->payload;
    settings.no_tx_udp_payload_size_shaping = 1;
    settings.handshake_timeout = UINT64_MAX;
    settings.rand_ctx.native_handle = setup;
    ngtcp2_transport_params_default(&parameters);
#if NGTCP2_VERSION_NUM >= 0x010000
    settings.no_pmtud = 1;
    parameters.original_dcid_present = header != NULL;
#endif
    parameters.initial_max_streams_uni = 1;
    parameters.initial_max_stream_data_uni = parameters.initial_max_data = INT64_C(1) << 40;
    endpoint->flow = flow, endpoint->server = header != NULL;
    const ngtcp2_path path = addresses(endpoint->server);
    const ngtcp2_cid own = draw(setup), other = header ? header->scid : draw(setup);
    if (header) {
        parameters.original_dcid = header->dcid;
        ngtcp2_conn_server_new(&endpoint->connection, &other, &own, &path, header->version, &callbacks, &settings,
                               &parameters, NULL, endpoint);
    } else {
        ngtcp2_conn_client_new(&endpoint->connection, &other, &own, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                               &parameters, NULL, endpoint);
    }
    secure(endpoint);
}

void flow_start(struct flow *flow, struct setup *setup, int number, int64_t now)
{
    flow->setup = setup, flow->number = number, flow->started = 1, flow->stream = -1;
    begin(&flow->client, flow, NULL, now);
    flow_offer(flow, now);
}

static void fail(struct flow *flow, const struct endpoint *endpoint, int error)
{
    if (!flow->failure[0]) {
        snprintf(flow->failure, sizeof flow->failure, "closed: the %s says %s", endpoint->server ? "server" : "client",
                 ngtcp2_strerror(error));
    }
}

/* ---- packets ---- */

static void put(struct queue *queue, int64_t number, const uint8_t *data, size_t size)
{
    if (queue->last == queue->room) {
        size_t count = queue->last - queue->first;
        memmove(queue->packets, queue->packets + queue->first, count * sizeof *queue->packets);
        queue->first = 0, queue->last = count;
        if (2 * count >= queue->room) {
            queue->room = queue->room ? 2 * queue->room : 64;
            queue->packets = realloc(queue->packets, queue->room * sizeof *queue->packets);
        }
    }
    struct packet *packet = &queue->packets[queue->last++];
    *packet = (struct packet){number, size, malloc(size)};
    memcpy(packet->data, data, size);
}

void flow_receive(struct flow *flow, const struct path_event *event, int64_t now)
{
    struct queue *queue = event->kind == PATH_DATA ? &flow->data : &flow->replies;
    struct endpoint *endpoint = event->kind == PATH_DATA ? &flow->server : &flow->client;
    while (queue->packets[queue->first].number != event->packet) free(queue->packets[queue->first++].data);
    struct packet packet = queue->packets[queue->first++];
    ngtcp2_pkt_hd header;
    if (!endpoint->connection && !ngtcp2_accept(&header, packet.data, packet.size)) begin(endpoint, flow, &header, now);
    if (endpoint->connection && !flow->failure[0]) {
        const ngtcp2_path path = addresses(endpoint->server);
        const ngtcp2_pkt_info info = {.ecn = event->marked == 1 ? NGTCP2_ECN_CE : NGTCP2_ECN_ECT_0};
        int error = ngtcp2_conn_read_pkt(endpoint->connection, &path, &info, packet.data, packet.size, now);
        if (error) fail(flow, endpoint, error);
    }
    free(packet.data);
}

void flow_offer(struct flow *flow, int64_t now)
{
    flow->offer = path_offered(flow->setup->path, now, flow->number);
}

/* Return how many bytes the application still offers. */
static int64_t offered(const struct flow *flow)
{
    if (flow->stopped) return 0;
    return flow->offer == INT64_MAX ? INT64_MAX : flow->offer - flow->limited;
}

/* Write the next packet of an endpoint. Returns its size; 0 if there is none now. */
static ngtcp2_ssize next(struct endpoint *endpoint, uint8_t *packet, ngtcp2_pkt_info *info, int64_t now)
{
    struct flow *flow = endpoint->flow;
    int64_t left = endpoint->server || flow->stream < 0 ? 0 : offered(flow);
    ngtcp2_vec data = {zeros, left < (int64_t)sizeof zeros ? (size_t)left : sizeof zeros};
    ngtcp2_ssize taken = -1;
    ngtcp2_ssize size = ngtcp2_conn_writev_stream(endpoint->connection, NULL, info, packet, flow->setup->payload, &taken,
                                                  NGTCP2_WRITE_STREAM_FLAG_NONE, left > 0 ? flow->stream : -1, &data,
                                                  left > 0, now);
    if (taken > 0 && left != INT64_MAX) flow->limited += taken;
    return size;
}

/* Write packets until the connection has none, or has sent as many as it sends without a pause. */
static void transmit(struct endpoint *endpoint, int64_t now)
{
    struct flow *flow = endpoint->flow;
    struct path *path = flow->setup->path;
    uint8_t packet[LARGEST];
    size_t left = ngtcp2_conn_get_send_quantum(endpoint->connection);
    if (ngtcp2_conn_get_expiry(endpoint->connection) <= (uint64_t)now) {
        int error = ngtcp2_conn_handle_expiry(endpoint->connection, now);
        if (error) fail(flow, endpoint, error);
    }
    if (!endpoint->server && flow->stream < 0 && ngtcp2_conn_get_handshake_completed(endpoint->connection)) {
        if (ngtcp2_conn_open_uni_stream(endpoint->connection, &flow->stream, NULL)) flow->stream = -1;
    }
    while (left >= flow->setup->payload) {
        ngtcp2_pkt_info info = {0};
        ngtcp2_ssize size = next(endpoint, packet, &info, now);
        if (size < 0) fail(flow, endpoint, (int)size);
        if (size <= 0) break;
        if (endpoint->server) put(&flow->replies, path_reply(path, now, flow->number, size + HEADERS), packet, size);
        else put(&flow->data, path_send(path, now, flow->number, size + HEADERS, info.ecn != 0), packet, size);
        left -= size;
    }
    ngtcp2_conn_update_pkt_tx_time(endpoint->connection, now);
}

void flow_transmit(struct flow *flow, int64_t now)
{
    if (!flow->failure[0]) transmit(&flow->client, now);
    if (flow->server.connection && !flow->failure[0]) transmit(&flow->server, now);
}

int64_t flow_expiry(const struct flow *flow)
{
    uint64_t first = INT64_MAX;
    for (int server = 0; server < 2; ++server) {
        const struct endpoint *endpoint = server ? &flow->server : &flow->client;
        uint64_t expiry = endpoint->connection ? ngtcp2_conn_get_expiry(endpoint->connection) : UINT64_MAX;
        if (expiry < first && !flow->failure[0]) first = expiry;
    }
    return (int64_t)first;
}

void flow_sample(const struct flow *flow, int64_t now)
{
    int64_t rate = -1;
#if NGTCP2_VERSION_NUM >= 0x010000
    ngtcp2_conn_info state;
    ngtcp2_conn_get_conn_info(flow->client.connection, &state);
#else
    ngtcp2_conn_stat state;
    ngtcp2_conn_get_conn_stat(flow->client.connection, &state);
    if (state.pacing_rate > 0) rate = (int64_t)(state.pacing_rate * NGTCP2_SECONDS);
#endif
    int flags = state.cwnd < state.ssthresh ? PATH_SLOW_START : 0;
    if (flow->stream >= 0 && offered(flow) <= 0) flags |= PATH_APPLICATION_LIMITED;
    int64_t rtt = state.min_rtt == UINT64_MAX ? -1 : (int64_t)state.latest_rtt; /* no RTT before the first sample */
    path_sample(flow->setup->path, now, flow->number, state.cwnd, state.bytes_in_flight, rtt, rate, flags);
}

static void end(struct queue *queue)
{
    while (queue->first < queue->last) free(queue->packets[queue->first++].data);
    free(queue->packets);
}

void flow_close(struct flow *flow)
{
    struct endpoint *endpoints[2] = {&flow->client, &flow->server};
    for (int i = 0; i < 2; ++i) {
        if (!endpoints[i]->connection) continue;
        ngtcp2_conn_del(endpoints[i]->connection);
        gnutls_deinit(endpoints[i]->session);
    }
    end(&flow->data);
    end(&flow->replies);
}

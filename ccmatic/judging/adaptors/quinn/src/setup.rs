//! The configuration of both endpoints of a flow.

use std::sync::Arc;

use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use crate::watched::{Factory, Heard};

pub const CLIENT: u16 = 1001;
pub const SERVER: u16 = 1002;

/// Enough for any path: flow control never limits a flow.
const UNLIMITED: u32 = 1 << 30;

/// Bytes that the sender keeps until they are acknowledged.
const SEND_WINDOW: u64 = 64 << 20;

/// Bytes of IPv4 and UDP around a datagram, and the least datagram of QUIC (RFC 9000, section 14).
const HEADERS: i64 = 28;
const LEAST: i64 = 1200;

/// A key in PKCS #8 whose seed is 32 times the byte 7, and its certificate, for the name `flow`. They protect nothing.
const KEY: [u8; 48] = {
    let mut key = [7; 48];
    let prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let mut index = 0;
    while index < prefix.len() {
        key[index] = prefix[index];
        index += 1;
    }
    key
};
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");

pub struct Setup {
    pub client: Endpoint,
    pub server: Endpoint,
    pub config: ClientConfig,
    pub heard: Arc<Heard>,
}

/// Set up a flow.
///
/// Errors: no controller of that name, or packets that are too small for QUIC.
pub fn setup(controller: &str, packet: i64, seed: u64) -> Result<Setup, String> {
    let heard = Arc::new(Heard::default());
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match controller {
        "cubic" => watched(CubicConfig::default(), &heard),
        "newreno" => watched(NewRenoConfig::default(), &heard),
        "bbr" => watched(BbrConfig::default(), &heard),
        _ => return Err(format!("quinn has no controller named {controller}")),
    };
    let mtu = packet - HEADERS;
    if !(LEAST..=65000).contains(&mtu) {
        return Err(format!("packets of {packet} bytes: QUIC needs {} to {}", LEAST + HEADERS, 65000 + HEADERS));
    }
    let transport = Arc::new(transport(factory, mtu as u16));
    let certificate = CertificateDer::from(CERTIFICATE);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    let client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(&KEY[..]).into())
        .map_err(|error| error.to_string())?;
    let client = QuicClientConfig::try_from(client).map_err(|error| error.to_string())?;
    let server = QuicServerConfig::try_from(server).map_err(|error| error.to_string())?;
    let mut config = ClientConfig::new(Arc::new(client));
    config.transport_config(transport.clone());
    let mut server = ServerConfig::with_crypto(Arc::new(server));
    server.transport_config(transport);
    Ok(Setup {
        client: endpoint(None, seed.wrapping_mul(2)),
        server: endpoint(Some(Arc::new(server)), seed.wrapping_mul(2).wrapping_add(1)),
        config,
        heard,
    })
}

fn watched<F: ControllerFactory + Send + Sync + 'static>(
    inner: F,
    heard: &Arc<Heard>,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(Factory { inner: Arc::new(inner), heard: heard.clone() })
}

fn transport(factory: Arc<dyn ControllerFactory + Send + Sync>, mtu: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(UNLIMITED))
        .receive_window(VarInt::from_u32(UNLIMITED))
        .send_window(SEND_WINDOW)
        .initial_mtu(mtu)
        .min_mtu(mtu)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .congestion_controller_factory(factory);
    transport
}

fn endpoint(server: Option<Arc<ServerConfig>>, seed: u64) -> Endpoint {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let config = EndpointConfig::default();
    #[cfg(seed_argument)]
    return Endpoint::new(Arc::new(config), server, true, Some(bytes));
    #[cfg(not(seed_argument))]
    return Endpoint::new(Arc::new({ config }.rng_seed(Some(bytes)).clone()), server, true);
}

//! The configuration of both endpoints of a flow.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd};

use quiche::{Config, ConnectionId, RecvInfo};

#[cfg(paths)]
pub type Connection = quiche::Connection;
#[cfg(not(paths))]
pub type Connection = std::pin::Pin<Box<quiche::Connection>>;

/// Bytes of IPv4 and UDP around a datagram, and the least datagram of QUIC (RFC 9000, section 14).
pub const HEADERS: i64 = 28;
const LEAST: i64 = 1200;

/// Enough for any path: flow control never limits a flow.
const UNLIMITED: u64 = 1 << 40;

/// A key of RSA, whose signatures have one length, and its certificate. They protect nothing.
const KEY: &[u8] = include_bytes!("key.pem");
const CERTIFICATE: &[u8] = include_bytes!("certificate.pem");

extern "C" {
    fn memfd_create(name: *const std::ffi::c_char, flags: u32) -> i32;
}

/// Return the configuration of an endpoint.
///
/// Errors: this version has no such controller, or cannot use packets of this size.
pub fn config(controller: &str, packet: i64) -> Result<Config, String> {
    if !(LEAST..=65000).contains(&(packet - HEADERS)) {
        return Err(format!("packets of {packet} bytes: QUIC needs {} to {}", LEAST + HEADERS, 65000 + HEADERS));
    }
    configured(controller, (packet - HEADERS) as usize)
        .map_err(|error| format!("quiche has no controller named {controller}, or is not set up: {error}"))
}

fn configured(controller: &str, datagram: usize) -> quiche::Result<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    let files = [file(c"certificate", CERTIFICATE), file(c"key", KEY)];
    config.load_cert_chain_from_pem_file(&name(&files[0]))?;
    config.load_priv_key_from_pem_file(&name(&files[1]))?;
    #[cfg(paths)]
    config.set_application_protos(&[b"ccmatic"])?;
    #[cfg(not(paths))]
    config.set_application_protos(b"\x07ccmatic")?;
    config.set_cc_algorithm_name(controller)?;
    config.verify_peer(false);
    config.grease(false);
    config.set_max_recv_udp_payload_size(datagram);
    config.set_max_send_udp_payload_size(datagram);
    config.set_initial_max_data(UNLIMITED);
    config.set_initial_max_stream_data_uni(UNLIMITED);
    config.set_initial_max_streams_uni(1);
    Ok(config)
}

/// Return a file in memory, since quiche reads keys only from files.
fn file(name: &CStr, content: &[u8]) -> File {
    let descriptor = unsafe { memfd_create(name.as_ptr(), 0) };
    assert!(descriptor >= 0, "there is no file in memory");
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(content).expect("memory takes the file");
    file
}

fn name(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

pub fn client() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 1001))
}

pub fn server() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 1002))
}

pub fn connect(config: &mut Config) -> quiche::Result<Connection> {
    let id = ConnectionId::from_ref(&[1; 8]);
    #[cfg(paths)]
    return quiche::connect(Some("flow"), &id, client(), server(), config);
    #[cfg(not(paths))]
    quiche::connect(Some("flow"), &id, server(), config)
}

pub fn accept(config: &mut Config) -> quiche::Result<Connection> {
    let id = ConnectionId::from_ref(&[2; 8]);
    #[cfg(paths)]
    return quiche::accept(&id, None, server(), client(), config);
    #[cfg(not(paths))]
    quiche::accept(&id, None, client(), config)
}

/// Return what a datagram says of its way.
pub fn way(from: SocketAddr, _to: SocketAddr) -> RecvInfo {
    RecvInfo {
        from,
        #[cfg(paths)]
        to: _to,
    }
}

/// Return the window in bytes, and the RTT in ns.
pub fn sampled(connection: &Connection) -> (i64, i64) {
    #[cfg(paths)]
    let stats = connection.path_stats().next().expect("a connection has a path");
    #[cfg(not(paths))]
    let stats = connection.stats();
    (stats.cwnd.min(i64::MAX as usize) as i64, stats.rtt.as_nanos() as i64)
}

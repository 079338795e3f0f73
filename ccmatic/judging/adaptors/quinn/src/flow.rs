//! One flow: a client that sends, a server that receives, and the datagrams between them.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Event, StreamId,
};

use crate::path::{self, Path, Sample};
use crate::run;
use crate::setup;
use crate::watched::Heard;

/// Bytes of IPv4 and UDP around a datagram.
const HEADERS: i64 = 28;

/// Packets that an application without a limit keeps ready.
const READY: i64 = 8;

static ZEROS: [u8; 65536] = [0; 65536];

/// Virtual time as the stack sees it.
#[derive(Clone, Copy)]
struct Clock {
    base: Instant,
}

impl Clock {
    /// A clock whose instants lie far enough in the future that the stack may subtract from them.
    fn new() -> Self {
        Self { base: Instant::now() + Duration::from_secs(86400) }
    }

    fn instant(&self, now: i64) -> Instant {
        self.base + Duration::from_nanos(now as u64)
    }

    fn nanoseconds(&self, instant: Instant) -> i64 {
        instant.saturating_duration_since(self.base).as_nanos() as i64
    }
}

struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    inbound: HashMap<i64, BytesMut>,
    peer: SocketAddr,
}

impl Side {
    fn new(endpoint: Endpoint, peer: u16) -> Self {
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, peer));
        Self { endpoint, connection: None, inbound: HashMap::new(), peer }
    }

    /// Hand over a datagram that arrives.
    fn receive(&mut self, now: Instant, packet: i64, marked: bool, buffer: &mut Vec<u8>) -> Result<(), String> {
        let Some(data) = self.inbound.remove(&packet) else { return Err(format!("packet {packet} arrives twice")) };
        let ecn = if marked { EcnCodepoint::Ce } else { EcnCodepoint::Ect0 };
        buffer.clear();
        match self.endpoint.handle(now, self.peer, None, Some(ecn), data, buffer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, buffer, None);
                self.connection = Some(accepted.map_err(|error| format!("not accepted: {}", error.cause))?);
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        Ok(())
    }

    /// Fire the timers that are due, and pass events between endpoint and connection.
    fn settle(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }
}

pub struct Flow {
    number: i32,
    clock: Clock,
    client: Side,
    server: Side,
    config: ClientConfig,
    heard: Arc<Heard>,
    packet: i64,
    stream: Option<StreamId>,
    stopped: bool,
    written: i64,
    limited: i64,
    received: i64,
    buffer: Vec<u8>,
}

impl run::Flow for Flow {
    fn new(number: i32, path: &Path) -> Result<Self, String> {
        let (seed, packet) = ((path.seed() as u64).wrapping_mul(64).wrapping_add(number as u64), path.packet());
        let setup = setup::setup(&path.controller(), packet, seed)?;
        Ok(Self {
            number,
            clock: Clock::new(),
            client: Side::new(setup.client, setup::SERVER),
            server: Side::new(setup.server, setup::CLIENT),
            config: setup.config,
            heard: setup.heard,
            packet,
            stream: None,
            stopped: false,
            written: 0,
            limited: 0,
            received: 0,
            buffer: Vec::new(),
        })
    }

    fn receive(&mut self, now: i64, event: &path::Event) -> Result<(), String> {
        let instant = self.clock.instant(now);
        match event.kind {
            path::DATA => self.server.receive(instant, event.packet, event.marked != 0, &mut self.buffer)?,
            path::REPLY => self.client.receive(instant, event.packet, event.marked != 0, &mut self.buffer)?,
            path::START => {
                let connection = self.client.endpoint.connect(instant, self.config.clone(), self.client.peer, "flow");
                self.client.connection = Some(connection.map_err(|error| format!("cannot connect: {error}"))?);
            }
            path::STOP => self.stopped = true,
            _ => {}
        }
        Ok(())
    }

    fn drive(&mut self, now: i64, path: &mut Path) -> Result<(), String> {
        let instant = self.clock.instant(now);
        self.client.settle(instant);
        self.server.settle(instant);
        self.read()?;
        self.open()?;
        let offered = path.offered(now, self.number);
        loop {
            self.write(offered);
            let Some(packet) = transmit(&mut self.client, instant, &mut self.buffer) else { break };
            let sent = path.send(now, self.number, packet.len() as i64 + HEADERS, true);
            self.server.inbound.insert(sent, packet);
        }
        while let Some(packet) = transmit(&mut self.server, instant, &mut self.buffer) {
            let sent = path.reply(now, self.number, packet.len() as i64 + HEADERS);
            self.client.inbound.insert(sent, packet);
        }
        self.client.settle(instant);
        self.server.settle(instant);
        if let Some((_, connection)) = &self.client.connection {
            let sample = sampled(connection, &self.heard);
            let congested = self.heard.congested.swap(0, Relaxed);
            if congested > 0 {
                path.sample(now, self.number, &Sample { window: congested, ..sample });
            }
            path.sample(now, self.number, &sample);
        }
        Ok(())
    }

    fn next(&mut self) -> i64 {
        let sides = [&mut self.client, &mut self.server];
        let due = sides.into_iter().filter_map(|side| side.connection.as_mut()?.1.poll_timeout());
        due.map(|due| self.clock.nanoseconds(due)).min().unwrap_or(i64::MAX)
    }
}

impl Flow {
    /// Open the stream once the connection is up. Errors: the connection is lost.
    fn open(&mut self) -> Result<(), String> {
        let Some((_, connection)) = &mut self.client.connection else { return Ok(()) };
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                return Err(format!("connection lost: {reason}"));
            }
        }
        if self.stream.is_none() && !connection.is_handshaking() {
            self.stream = Some(connection.streams().open(Dir::Uni).ok_or("no stream can be opened")?);
        }
        Ok(())
    }

    /// Give the stream what the application offers.
    ///
    /// An application without a limit keeps a few packets ready and no more, so that it can pause.
    fn write(&mut self, offered: i64) {
        let (Some(stream), Some((_, connection))) = (self.stream, &mut self.client.connection) else { return };
        let ready = self.received + self.heard.in_flight.load(Relaxed) + READY * self.packet - self.written;
        let limited = offered != i64::MAX;
        let mut missing = if limited { offered - self.limited } else { ready };
        while missing > 0 && !self.stopped {
            let most = missing.min(ZEROS.len() as i64) as usize;
            let Ok(written) = connection.send_stream(stream).write_chunks(&mut [Bytes::from_static(&ZEROS[..most])])
            else {
                return;
            };
            missing -= written.bytes as i64;
            self.written += written.bytes as i64;
            self.limited += if limited { written.bytes as i64 } else { 0 };
        }
    }

    /// Read all that the server has received. Errors: the connection is lost.
    fn read(&mut self) -> Result<(), String> {
        let Some((_, connection)) = &mut self.server.connection else { return Ok(()) };
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                return Err(format!("connection lost: {reason}"));
            }
        }
        let _ = connection.streams().accept(Dir::Uni);
        let Some(stream) = self.stream else { return Ok(()) };
        let mut incoming = connection.recv_stream(stream);
        if let Ok(mut chunks) = incoming.read(false) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.received += chunk.bytes.len() as i64;
            }
            let _ = chunks.finalize();
        };
        Ok(())
    }
}

/// Return the next datagram that a side sends now.
fn transmit(side: &mut Side, now: Instant, buffer: &mut Vec<u8>) -> Option<BytesMut> {
    buffer.clear();
    let size = side.connection.as_mut()?.1.poll_transmit(now, 1, buffer)?.size;
    Some(BytesMut::from(&buffer[..size]))
}

fn sampled(connection: &Connection, heard: &Heard) -> Sample {
    let controller = connection.congestion_state();
    #[cfg(metrics)]
    let slow_start = controller.metrics().ssthresh.is_some_and(|ssthresh| controller.window() < ssthresh);
    #[cfg(not(metrics))]
    let slow_start = false;
    Sample {
        window: controller.window().min(i64::MAX as u64) as i64,
        in_flight: heard.in_flight.load(Relaxed).max(0),
        rtt: connection.rtt().as_nanos() as i64,
        application_limited: heard.limited.load(Relaxed),
        slow_start,
    }
}

//! One flow: a client that sends, a server that receives, and the datagrams between them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use quiche::{Config, Error};

use crate::clock;
use crate::path::{self, Path, Sample};
use crate::run;
use crate::setup::{self, Connection};

/// The client's first unidirectional stream.
const STREAM: u64 = 2;

static ZEROS: [u8; 65536] = [0; 65536];

struct Side {
    config: Config,
    connection: Option<Connection>,
    inbound: BTreeMap<i64, Vec<u8>>,
    /// The next datagram, and when it may leave.
    held: Option<(i64, Vec<u8>)>,
    addresses: [SocketAddr; 2],
    buffer: Vec<u8>,
}

impl Side {
    fn new(controller: &str, packet: i64, own: SocketAddr, peer: SocketAddr) -> Result<Self, String> {
        Ok(Self {
            config: setup::config(controller, packet)?,
            connection: None,
            inbound: BTreeMap::new(),
            held: None,
            addresses: [peer, own],
            buffer: vec![0; (packet - setup::HEADERS) as usize],
        })
    }

    /// Hand over a datagram that arrives. Returns whether datagrams before it are lost.
    fn receive(&mut self, packet: i64) -> Result<bool, String> {
        let later = self.inbound.split_off(&(packet + 1));
        let Some((_, mut data)) = self.inbound.pop_last() else { return Err(format!("packet {packet} is unknown")) };
        let lost = !std::mem::replace(&mut self.inbound, later).is_empty();
        let Some(connection) = &mut self.connection else { return Ok(lost) };
        match connection.recv(&mut data, setup::way(self.addresses[0], self.addresses[1])) {
            Ok(_) | Err(Error::Done) => Ok(lost),
            Err(error) => Err(format!("a datagram is refused: {error}")),
        }
    }

    /// Fire the timers that are due.
    fn settle(&mut self) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if connection.timeout().is_some_and(|left| left.is_zero()) {
            connection.on_timeout();
        }
        if connection.is_closed() {
            return Err("connection closed".to_string());
        }
        Ok(())
    }

    /// Return the next datagram if it may leave now.
    fn transmit(&mut self, now: i64) -> Result<Option<Vec<u8>>, String> {
        let Some(connection) = &mut self.connection else { return Ok(None) };
        if self.held.is_none() {
            match connection.send(&mut self.buffer) {
                Ok((size, info)) => self.held = Some((clock::nanoseconds(info.at), self.buffer[..size].to_vec())),
                Err(Error::Done) => return Ok(None),
                Err(error) => return Err(format!("no datagram can be sent: {error}")),
            }
        }
        let due = self.held.as_ref().is_some_and(|(at, _)| *at <= now);
        Ok(if due { self.held.take().map(|(_, datagram)| datagram) } else { None })
    }

    /// Return when the side has something to do again, if no datagram arrives.
    fn next(&self, now: i64) -> i64 {
        let timer = self.connection.as_ref().and_then(|connection| connection.timeout());
        let timer = timer.map_or(i64::MAX, |left| now.saturating_add(left.as_nanos().min(1 << 62) as i64));
        timer.min(self.held())
    }

    /// Return when the next datagram may leave, if there is one.
    fn held(&self) -> i64 {
        self.held.as_ref().map_or(i64::MAX, |(at, _)| *at)
    }
}

pub struct Flow {
    number: i32,
    now: i64,
    client: Side,
    server: Side,
    stopped: bool,
    limited: i64,
    acks: Acks,
}

/// When the server answers. quiche acknowledges whenever a program lets it send, so the scenario says how often that is.
struct Acks {
    packets: i64,
    delay: i64,
    unanswered: i64,
    due: i64,
}

impl run::Flow for Flow {
    fn new(number: i32, path: &Path) -> Result<Self, String> {
        let (controller, packet) = (path.controller(), path.packet());
        Ok(Self {
            number,
            now: 0,
            client: Side::new(&controller, packet, setup::client(), setup::server())?,
            server: Side::new(&controller, packet, setup::server(), setup::client())?,
            stopped: false,
            limited: 0,
            acks: Acks { packets: path.acks_packets(), delay: path.acks_delay(), unanswered: 0, due: i64::MAX },
        })
    }

    fn receive(&mut self, now: i64, event: &path::Event) -> Result<(), String> {
        clock::set(now);
        match event.kind {
            path::DATA => {
                if self.server.connection.is_none() {
                    let accepted = setup::accept(&mut self.server.config);
                    self.server.connection = Some(accepted.map_err(|error| format!("not accepted: {error}"))?);
                }
                let lost = self.server.receive(event.packet)?;
                let established = self.server.connection.as_ref().is_some_and(|server| server.is_established());
                self.acks.unanswered += 1;
                let at_once = lost || !established || self.acks.unanswered >= self.acks.packets;
                self.acks.due = self.acks.due.min(if at_once { now } else { now + self.acks.delay });
            }
            path::REPLY => {
                self.client.receive(event.packet)?;
            }
            path::START => {
                let connection = setup::connect(&mut self.client.config);
                self.client.connection = Some(connection.map_err(|error| format!("cannot connect: {error}"))?);
            }
            path::STOP => self.stopped = true,
            _ => {}
        }
        Ok(())
    }

    fn drive(&mut self, now: i64, path: &mut Path) -> Result<(), String> {
        self.now = now;
        clock::set(now);
        self.client.settle()?;
        self.server.settle()?;
        self.read();
        let offered = path.offered(now, self.number);
        loop {
            self.write(offered)?;
            let Some(datagram) = self.client.transmit(now)? else { break };
            let sent = path.send(now, self.number, datagram.len() as i64 + setup::HEADERS, false);
            self.server.inbound.insert(sent, datagram);
        }
        let established = self.server.connection.as_ref().is_some_and(|server| server.is_established());
        while !established || self.acks.due <= now {
            let Some(datagram) = self.server.transmit(now)? else {
                self.acks = Acks { unanswered: 0, due: self.server.held(), ..self.acks };
                break;
            };
            let sent = path.reply(now, self.number, datagram.len() as i64 + setup::HEADERS);
            self.client.inbound.insert(sent, datagram);
        }
        if let Some(connection) = &self.client.connection {
            let (window, rtt) = setup::sampled(connection);
            let sample = Sample { window, in_flight: -1, rtt, application_limited: false, slow_start: false };
            path.sample(now, self.number, &sample);
        }
        Ok(())
    }

    fn next(&mut self) -> i64 {
        self.client.next(self.now).min(self.server.next(self.now)).min(self.acks.due)
    }
}

impl Flow {
    /// Give the stream what the application offers. quiche takes no more than its window allows.
    fn write(&mut self, offered: i64) -> Result<(), String> {
        let Some(connection) = &mut self.client.connection else { return Ok(()) };
        while connection.is_established() && !self.stopped {
            let limit = if offered == i64::MAX { offered } else { offered - self.limited };
            let most = limit.min(ZEROS.len() as i64) as usize;
            if most == 0 {
                break;
            }
            match connection.stream_send(STREAM, &ZEROS[..most], false) {
                Ok(written) => {
                    self.limited += if offered == i64::MAX { 0 } else { written as i64 };
                    if written < most {
                        break;
                    }
                }
                Err(Error::Done) => break,
                Err(error) => return Err(format!("the stream takes no data: {error}")),
            }
        }
        Ok(())
    }

    /// Read all that the server has received.
    fn read(&mut self) {
        let Some(connection) = &mut self.server.connection else { return };
        let mut data = [0; 65536];
        while connection.is_established() && connection.stream_recv(STREAM, &mut data).is_ok() {}
    }
}

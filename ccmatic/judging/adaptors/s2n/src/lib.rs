//! The controllers of s2n-quic-core behind the C functions of ccmatic/worlds/runtime/controller.h.

mod surroundings;

use std::collections::BTreeMap;
use std::ffi::{c_char, CStr};
use std::time::Duration;

use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;

use surroundings::Chance;
#[cfg(publisher)]
use surroundings::Silent;

/// Bytes of IPv4 and UDP around a datagram.
const HEADERS: i64 = 28;

/// The RTT before the first sample (RFC 9002, section 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// The age at which the controller's notes on a packet are dropped, in ns.
const FORGOTTEN: i64 = 60_000_000_000;

#[repr(C)]
pub struct Event {
    now: i64,
    sent: i64,
    bytes: i64,
    rtt: i64,
    least_rtt: i64,
    smooth_rtt: i64,
    in_flight: i64,
    app_limited: i32,
    persistent: i32,
}

/// What the sender calls.
pub trait Calls {
    fn sent(&mut self, event: &Event);
    fn acked(&mut self, event: &Event);
    fn lost(&mut self, event: &Event);
    fn marked(&mut self, event: &Event);
    fn window(&self) -> i64;
    fn departure(&self) -> Option<i64>;
}

struct Driven<C: CongestionController> {
    controller: C,
    rtt: RttEstimator,
    chance: Chance,
    /// The controller's notes on packets, by the instant at which they left.
    notes: BTreeMap<i64, C::PacketInfo>,
    last_acked: i64,
    last_lost: i64,
}

fn timestamp(now: i64) -> Timestamp {
    // A microsecond is the least that s2n distinguishes, and 0 is no timestamp.
    unsafe { Timestamp::from_duration(Duration::from_nanos(now as u64) + Duration::from_secs(1)) }
}

/// Call a method of the controller. Before 0.11 methods had no publisher.
macro_rules! call {
    ($controller:expr, $method:ident, $($argument:expr),*) => {{
        #[cfg(publisher)]
        let result = $controller.$method($($argument,)* &mut Silent);
        #[cfg(not(publisher))]
        let result = $controller.$method($($argument),*);
        result
    }};
}

impl<C: CongestionController> Calls for Driven<C> {
    fn sent(&mut self, event: &Event) {
        let limited = Some(event.app_limited != 0);
        let (now, bytes) = (timestamp(event.now), event.bytes as usize);
        let note = call!(self.controller, on_packet_sent, now, bytes, limited, &self.rtt);
        self.notes.insert(event.now, note);
        if self.notes.first_key_value().is_some_and(|(&sent, _)| sent < event.now - FORGOTTEN) {
            self.notes.pop_first();
        }
    }

    fn acked(&mut self, event: &Event) {
        let (sent, now) = (timestamp(event.sent), timestamp(event.now));
        let Some(&note) = self.notes.get(&event.sent) else { return };
        if event.rtt > 0 && event.sent > self.last_acked {
            self.last_acked = event.sent;
            let sample = Duration::from_nanos(event.rtt as u64);
            self.rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
            call!(self.controller, on_rtt_update, sent, now, &self.rtt);
        }
        let bytes = event.bytes as usize;
        call!(self.controller, on_ack, sent, bytes, note, &self.rtt, &mut self.chance, now);
    }

    fn lost(&mut self, event: &Event) {
        let Some(&note) = self.notes.get(&event.sent) else { return };
        let (bytes, persistent) = (event.bytes as u32, event.persistent != 0);
        let burst = event.now != self.last_lost;
        self.last_lost = event.now;
        let now = timestamp(event.now);
        call!(self.controller, on_packet_lost, bytes, note, persistent, burst, &mut self.chance, now);
        if persistent {
            self.rtt.on_persistent_congestion();
        }
    }

    fn marked(&mut self, event: &Event) {
        call!(self.controller, on_explicit_congestion, 1, timestamp(event.now));
    }

    fn window(&self) -> i64 {
        self.controller.congestion_window().into()
    }

    fn departure(&self) -> Option<i64> {
        let departure = self.controller.earliest_departure_time()?;
        Some((departure - timestamp(0)).as_nanos() as i64)
    }
}

fn driven<C: CongestionController>(controller: C, seed: u64) -> Box<dyn Calls> {
    // Before 0.30 the argument was the longest delay of acknowledgements, and the initial RTT the same constant.
    let rtt = RttEstimator::new(if cfg!(initial_rtt) { INITIAL_RTT } else { Duration::ZERO });
    Box::new(Driven { controller, rtt, chance: Chance(seed), notes: BTreeMap::new(), last_acked: -1, last_lost: -1 })
}

/// The controller that C sees.
pub struct Controller(Box<dyn Calls>);

/// # Safety
/// `name` is a text of C.
#[no_mangle]
pub unsafe extern "C" fn controller_new(name: *const c_char, seed: u64, packet: i64) -> *mut Controller {
    let datagram = (packet - HEADERS).clamp(1200, 65000) as u16;
    macro_rules! new {
        ($controller:ident) => {{
            #[cfg(app_settings)]
            let controller = $controller::new(datagram, Default::default());
            #[cfg(not(app_settings))]
            let controller = $controller::new(datagram);
            driven(controller, seed)
        }};
    }
    let calls = match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"cubic" => new!(CubicCongestionController),
        b"bbr" => new!(BbrCongestionController),
        _ => return std::ptr::null_mut(),
    };
    Box::into_raw(Box::new(Controller(calls)))
}

macro_rules! calls {
    ($($name:ident $call:ident;)*) => {
        $(
            /// # Safety
            /// `controller` comes from `controller_new`.
            #[no_mangle]
            pub unsafe extern "C" fn $name(controller: *mut Controller, event: *const Event) {
                unsafe { (*controller).0.$call(&*event) }
            }
        )*
    };
}

calls! {
    controller_sent sent;
    controller_acked acked;
    controller_lost lost;
    controller_marked marked;
}

/// # Safety
/// `controller` comes from `controller_new`.
#[no_mangle]
pub unsafe extern "C" fn controller_window(controller: *const Controller) -> i64 {
    unsafe { (*controller).0.window() }
}

/// # Safety
/// `controller` comes from `controller_new`.
#[no_mangle]
pub unsafe extern "C" fn controller_departure(controller: *const Controller, now: i64, _bytes: i64) -> i64 {
    unsafe { (*controller).0.departure() }.unwrap_or(now).max(now).max(1)
}

/// # Safety
/// `controller` comes from `controller_new`, and is used no more.
#[no_mangle]
pub unsafe extern "C" fn controller_free(controller: *mut Controller) {
    drop(unsafe { Box::from_raw(controller) });
}

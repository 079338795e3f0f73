//! The controller `toy`, for `ccmatic judge`. Times are in ns, sizes in bytes; fill in `Toy`.
use std::ffi::{c_char, CStr};

#[repr(C)]
pub struct Event {
    now: i64,
    sent: i64, // when the newest of the packets left
    bytes: i64,
    rtt: i64,
    least_rtt: i64,
    smooth_rtt: i64,
    in_flight: i64,
    app_limited: i32,
    persistent: i32, // persistent congestion (RFC 9002, section 7.6)
}

pub struct Toy {
    packet: i64,
    window: i64,
    threshold: i64, // slow start ends here
    recovery: i64,  // losses of packets that left before this instant belong to the same event
}

impl Toy {
    fn new(packet: i64) -> Self {
        Self { packet, window: 10 * packet, threshold: i64::MAX, recovery: -1 }
    }

    fn acked(&mut self, event: &Event) {
        if event.sent > self.recovery && event.app_limited == 0 {
            let slow_start = self.window < self.threshold;
            self.window += if slow_start { event.bytes } else { self.packet * event.bytes / self.window };
        }
    }

    fn lost(&mut self, event: &Event) {
        if event.sent > self.recovery {
            (self.recovery, self.threshold) = (event.now, (self.window / 2).max(2 * self.packet));
            self.window = if event.persistent != 0 { 2 * self.packet } else { self.threshold };
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn controller_new(name: *const c_char, _seed: u64, packet: i64) -> *mut Toy {
    if CStr::from_ptr(name).to_bytes() != b"toy" { return std::ptr::null_mut(); }
    Box::into_raw(Box::new(Toy::new(packet)))
}
#[no_mangle]
pub unsafe extern "C" fn controller_acked(toy: *mut Toy, event: *const Event) { (*toy).acked(&*event) }
#[no_mangle]
pub unsafe extern "C" fn controller_lost(toy: *mut Toy, event: *const Event) { (*toy).lost(&*event) }
#[no_mangle]
pub unsafe extern "C" fn controller_window(toy: *const Toy) -> i64 { (*toy).window }
#[no_mangle]
pub unsafe extern "C" fn controller_free(toy: *mut Toy) { drop(Box::from_raw(toy)) }

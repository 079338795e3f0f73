//! The path in virtual time, a C library (ccmatic/worlds/runtime/path.h).

use std::ffi::{c_char, c_int, CStr, CString};
use std::ptr::NonNull;

pub const DATA: i32 = 0;
pub const REPLY: i32 = 1;
pub const START: i32 = 2;
pub const STOP: i32 = 3;

const APPLICATION_LIMITED: i32 = 1;
const SLOW_START: i32 = 2;

#[repr(C)]
struct Raw {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Default)]
pub struct Event {
    pub kind: i32,
    pub flow: i32,
    pub packet: i64,
    pub size: i64,
    pub marked: i32,
    pad: i32,
}

extern "C" {
    fn path_open(folder: *const c_char) -> *mut Raw;
    fn path_error() -> *const c_char;
    fn path_end(path: *const Raw) -> i64;
    fn path_flows(path: *const Raw) -> i64;
    fn path_seed(path: *const Raw) -> i64;
    fn path_packet(path: *const Raw) -> i64;
    fn path_acks_packets(path: *const Raw) -> i64;
    fn path_acks_delay(path: *const Raw) -> i64;
    fn path_controller(path: *const Raw) -> *const c_char;
    fn path_next(path: *const Raw) -> i64;
    fn path_receive(path: *mut Raw, now: i64, event: *mut Event) -> c_int;
    fn path_send(path: *mut Raw, now: i64, flow: c_int, size: i64, ect: c_int) -> i64;
    fn path_reply(path: *mut Raw, now: i64, flow: c_int, size: i64) -> i64;
    fn path_offered(path: *const Raw, now: i64, flow: c_int) -> i64;
    #[rustfmt::skip]
    fn path_sample(
        path: *mut Raw,
        now: i64,
        flow: c_int,
        window: i64,
        in_flight: i64,
        rtt: i64,
        rate: i64,
        flags: c_int,
    );
    fn path_close(path: *mut Raw, failure: *const c_char) -> c_int;
}

/// What a sender knows at an instant; -1 stands for unknown.
pub struct Sample {
    pub window: i64,
    pub in_flight: i64,
    pub rtt: i64,
    pub application_limited: bool,
    pub slow_start: bool,
}

pub struct Path(NonNull<Raw>);

// One thread at a time holds it.
unsafe impl Send for Path {}

fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Path {
    pub fn open(folder: &str) -> Result<Self, String> {
        let folder = CString::new(folder).map_err(|error| error.to_string())?;
        NonNull::new(unsafe { path_open(folder.as_ptr()) }).map(Self).ok_or_else(|| text(unsafe { path_error() }))
    }

    pub fn end(&self) -> i64 {
        unsafe { path_end(self.0.as_ptr()) }
    }

    pub fn flows(&self) -> i64 {
        unsafe { path_flows(self.0.as_ptr()) }
    }

    pub fn seed(&self) -> i64 {
        unsafe { path_seed(self.0.as_ptr()) }
    }

    pub fn packet(&self) -> i64 {
        unsafe { path_packet(self.0.as_ptr()) }
    }

    /// How many packets a receiver acknowledges at once, for stacks whose receiver does not choose it.
    #[allow(dead_code)]
    pub fn acks_packets(&self) -> i64 {
        unsafe { path_acks_packets(self.0.as_ptr()) }
    }

    /// How long a receiver waits for so many packets, in ns.
    #[allow(dead_code)]
    pub fn acks_delay(&self) -> i64 {
        unsafe { path_acks_delay(self.0.as_ptr()) }
    }

    pub fn controller(&self) -> String {
        text(unsafe { path_controller(self.0.as_ptr()) })
    }

    pub fn next(&self) -> i64 {
        unsafe { path_next(self.0.as_ptr()) }
    }

    pub fn receive(&mut self, now: i64) -> Option<Event> {
        let mut event = Event::default();
        (unsafe { path_receive(self.0.as_ptr(), now, &mut event) } != 0).then_some(event)
    }

    pub fn send(&mut self, now: i64, flow: i32, size: i64, ect: bool) -> i64 {
        unsafe { path_send(self.0.as_ptr(), now, flow, size, ect.into()) }
    }

    pub fn reply(&mut self, now: i64, flow: i32, size: i64) -> i64 {
        unsafe { path_reply(self.0.as_ptr(), now, flow, size) }
    }

    pub fn offered(&self, now: i64, flow: i32) -> i64 {
        unsafe { path_offered(self.0.as_ptr(), now, flow) }
    }

    pub fn sample(&mut self, now: i64, flow: i32, sample: &Sample) {
        let Sample { window, in_flight, rtt, application_limited, slow_start } = *sample;
        let flags = if application_limited { APPLICATION_LIMITED } else { 0 } | if slow_start { SLOW_START } else { 0 };
        unsafe { path_sample(self.0.as_ptr(), now, flow, window, in_flight, rtt, -1, flags) }
    }

    pub fn close(self, failure: Option<&str>) {
        let failure = failure.map(|words| CString::new(words.replace('\0', " ")).unwrap());
        unsafe { path_close(self.0.as_ptr(), failure.as_ref().map_or(std::ptr::null(), |words| words.as_ptr())) };
    }
}

//! Virtual time and randomness for code that asks the operating system and BoringSSL.
//!
//! quiche reads the clock itself. The executable defines the function of the C library by which Rust does so. It also
//! takes the place of BoringSSL's random bytes (the linker's option --wrap=RAND_bytes).

use std::ffi::c_int;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Instant;

use crate::chance;

/// The instant at which a run begins, in ns. It is large, so that the stack may subtract from instants.
const BEGIN: i64 = 1_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

static NOW: AtomicI64 = AtomicI64::new(BEGIN);

/// Set the time of the process, in ns of the run.
pub fn set(now: i64) {
    NOW.store(BEGIN + now, Relaxed);
}

/// Return an instant in ns of the run.
pub fn nanoseconds(instant: Instant) -> i64 {
    let now = Instant::now();
    let late = instant.saturating_duration_since(now).as_nanos() as i64;
    let early = now.saturating_duration_since(instant).as_nanos() as i64;
    NOW.load(Relaxed) - BEGIN + late - early
}

#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// Return the time of the run, in place of the C library's function of this name.
///
/// # Safety
/// `time` is valid.
#[no_mangle]
pub unsafe extern "C" fn clock_gettime(_clock: c_int, time: *mut Timespec) -> c_int {
    let now = NOW.load(Relaxed);
    unsafe { time.write(Timespec { seconds: now / SECOND, nanoseconds: now % SECOND }) };
    0
}

/// Fill a buffer from the run's seed, in place of BoringSSL's function of this name.
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn __wrap_RAND_bytes(buffer: *mut u8, length: usize) -> c_int {
    unsafe { chance::getrandom(buffer, length, 0) };
    1
}

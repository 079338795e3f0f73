//! All randomness of the process: a generator that starts from the scenario's seed.
//!
//! quinn-proto takes a seed, but its BBR, rustls and ring ask the operating system. The executable exports
//! the function by which they ask, so that equal scenarios give equal runs.

use std::sync::atomic::{AtomicU64, Ordering};

static STATE: AtomicU64 = AtomicU64::new(0);

/// Start again from a seed.
pub fn seed(seed: u64) {
    STATE.store(seed, Ordering::SeqCst);
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn draw() -> u64 {
    let state = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Fill a buffer, in place of the C library's function of this name.
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    for index in 0..length {
        unsafe { buffer.add(index).write(draw() as u8) };
    }
    length as isize
}

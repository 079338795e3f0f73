//! What s2n's controllers ask of the stack around them: random numbers, and a place for their events.

use s2n_quic_core::random::Generator;

#[cfg(publisher)]
pub use silent::Silent;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), from the scenario's seed.
pub struct Chance(pub u64);

impl Chance {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Generator for Chance {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill_with(|| self.draw() as u8);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.public_random_fill(dest);
    }
}

#[cfg(publisher)]
mod silent {
    use num_rational::Ratio;
    #[cfg(on_bbr_state_changed)]
    use s2n_quic_core::event::builder::BbrState;
    use s2n_quic_core::event::builder::SlowStartExitCause;
    use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
    use s2n_quic_core::recovery::congestion_controller::Publisher;

    /// Events that nobody reads.
    pub struct Silent;

    impl Publisher for Silent {
        fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _congestion_window: u32) {}
        fn on_delivery_rate_sampled(&mut self, _rate_sample: RateSample) {}
        fn on_pacing_rate_updated(&mut self, _pacing_rate: Bandwidth, _burst_size: u32, _pacing_gain: Ratio<u64>) {}
        #[cfg(on_bbr_state_changed)]
        fn on_bbr_state_changed(&mut self, _state: BbrState) {}
    }
}

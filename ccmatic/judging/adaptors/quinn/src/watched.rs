//! A controller that passes every call on, and keeps what the calls say for samples.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;

#[cfg(metrics)]
use quinn_proto::congestion::ControllerMetrics;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

/// What the controller has heard last: the bytes in flight, and whether the application limits the flow. And its window
/// just before a congestion event, which an acknowledgement of the same instant may have raised; 0 if there was no event.
#[derive(Default)]
pub struct Heard {
    pub in_flight: AtomicI64,
    pub limited: AtomicBool,
    pub congested: AtomicI64,
}

pub struct Factory<F> {
    pub inner: Arc<F>,
    pub heard: Arc<Heard>,
}

impl<F: ControllerFactory + Send + Sync + 'static> ControllerFactory for Factory<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Watched { inner: self.inner.clone().build(now, current_mtu), heard: self.heard.clone() })
    }
}

struct Watched {
    inner: Box<dyn Controller>,
    heard: Arc<Heard>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.heard.in_flight.fetch_add(bytes as i64, Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_packet_num_acked: Option<u64>) {
        self.heard.in_flight.store(in_flight as i64, Relaxed);
        self.heard.limited.store(app_limited, Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        #[cfg(is_ecn)] is_ecn: bool,
        lost_bytes: u64,
    ) {
        self.heard.in_flight.fetch_sub(lost_bytes as i64, Relaxed);
        self.heard.congested.store(self.inner.window() as i64, Relaxed);
        #[cfg(is_ecn)]
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, is_ecn, lost_bytes);
        #[cfg(not(is_ecn))]
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    #[cfg(on_spurious_congestion_event)]
    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    #[cfg(metrics)]
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watched { inner: self.inner.clone_box(), heard: self.heard.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

//! Say where this version of s2n-quic-core differs from others.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=CCMATIC_HAS");
    for feature in ["app_settings", "initial_rtt", "on_bbr_state_changed", "publisher"] {
        println!("cargo:rustc-check-cfg=cfg({feature})");
        if env::var("CCMATIC_HAS").unwrap_or_default().split(',').any(|word| word == feature) {
            println!("cargo:rustc-cfg={feature}");
        }
    }
}

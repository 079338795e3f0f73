//! Link the path, and say which methods this version's controllers have.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=CCMATIC_PATH");
    println!("cargo:rerun-if-env-changed=CCMATIC_METHODS");
    let path = env::var("CCMATIC_PATH").expect("CCMATIC_PATH names the folder of libccmatic_path.a");
    println!("cargo:rerun-if-changed={path}/libccmatic_path.a");
    println!("cargo:rustc-link-search=native={path}");
    println!("cargo:rustc-link-lib=static=ccmatic_path");
    println!("cargo:rustc-link-lib=dylib=dl");
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=getrandom");
    for method in ["metrics", "is_ecn", "on_spurious_congestion_event"] {
        println!("cargo:rustc-check-cfg=cfg({method})");
        if env::var("CCMATIC_METHODS").unwrap_or_default().split(',').any(|word| word == method) {
            println!("cargo:rustc-cfg={method}");
        }
    }
}

//! Link the path, and say where this version of the stack differs from others.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=CCMATIC_PATH");
    println!("cargo:rerun-if-env-changed=CCMATIC_HAS");
    let path = env::var("CCMATIC_PATH").expect("CCMATIC_PATH names the folder of libccmatic_path.a");
    println!("cargo:rerun-if-changed={path}/libccmatic_path.a");
    println!("cargo:rustc-link-search=native={path}");
    println!("cargo:rustc-link-lib=static=ccmatic_path");
    println!("cargo:rustc-link-lib=dylib=dl");
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=getrandom");
    println!("cargo:rustc-link-arg-bins=-Wl,--wrap=RAND_bytes");
    for feature in env::var("CCMATIC_HAS").unwrap_or_default().split_terminator(',') {
        println!("cargo:rustc-cfg={feature}");
    }
}

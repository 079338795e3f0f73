//! quinn-proto, whole, on a path in virtual time.

mod chance;
mod flow;
mod path;
mod run;
mod setup;
mod watched;

fn main() -> std::process::ExitCode {
    run::main::<flow::Flow>()
}

//! quiche, whole, on a path in virtual time.

mod chance;
mod clock;
mod flow;
mod path;
mod run;
mod setup;

fn main() -> std::process::ExitCode {
    run::main::<flow::Flow>()
}

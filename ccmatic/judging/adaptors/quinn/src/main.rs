//! Run quinn-proto whole on a path in virtual time: a folder of a scenario per line of input, a line of JSON out.

mod chance;
mod flow;
mod path;
mod setup;
mod watched;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Mutex;

use flow::{Clock, Flow};
use path::Path;

/// The text and the place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| *PANIC.lock().unwrap() = panic.to_string().replace('\n', " ")));
    for folder in io::stdin().lock().lines() {
        let run = folder.map_err(|error| error.to_string()).and_then(|folder| run(&folder));
        match run.and_then(|result| writeln!(io::stdout(), "{result}").map_err(|error| error.to_string())) {
            Ok(()) => {}
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Run a scenario, and return the line that reports it.
fn run(folder: &str) -> Result<String, String> {
    let mut path = Path::open(folder)?;
    chance::seed(path.seed() as u64);
    // A thread of its own, as generators of random numbers last as long as a thread.
    let scenario = std::thread::scope(|scope| scope.spawn(|| scenario(&mut path)).join());
    let (packets, failure) = match scenario {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Err(error),
        Err(_) => (0, Some(PANIC.lock().unwrap().clone())),
    };
    path.close(failure.as_deref());
    let failure = failure.map_or("null".to_string(), |words| format!("\"{}\"", words.replace(['"', '\\'], "'")));
    Ok(format!("{{\"failure\": {failure}, \"packets\": {packets}}}"))
}

/// Run until the end or until a connection fails. Returns the events of the path, and the failure.
fn scenario(path: &mut Path) -> Result<(i64, Option<String>), String> {
    let (clock, controller) = (Clock::new(), path.controller());
    let mut flows = Vec::new();
    for number in 0..path.flows() {
        let setup = setup::setup(
            &controller,
            path.packet(),
            (path.seed() as u64).wrapping_mul(64).wrapping_add(number as u64),
        )?;
        flows.push(Flow::new(number as i32, clock, path.packet(), setup));
    }
    let (mut now, mut packets) = (0, 0);
    while now < path.end() {
        while let Some(event) = path.receive(now) {
            packets += 1;
            if let Err(failure) = flows[event.flow as usize].receive(now, &event) {
                return Ok((packets, Some(failure)));
            }
        }
        for flow in &mut flows {
            if let Err(failure) = flow.drive(now, path) {
                return Ok((packets, Some(failure)));
            }
        }
        let due = flows.iter_mut().map(Flow::next).min().unwrap_or(i64::MAX);
        now = path.next().min(due).max(now + 1);
    }
    Ok((packets, None))
}

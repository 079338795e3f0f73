//! Run a stack whole on a path in virtual time: a folder of a scenario per line of input, a line of JSON out.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Mutex;

use crate::chance;
use crate::path::{Event, Path};

/// One flow: a client that sends, a server that receives, and the datagrams between them.
pub trait Flow: Sized {
    /// Set up a flow of this number.
    ///
    /// Errors: the stack has no such controller, or cannot use packets of this size.
    fn new(number: i32, path: &Path) -> Result<Self, String>;

    /// Take an event of the path. Errors: the connection is lost.
    fn receive(&mut self, now: i64, event: &Event) -> Result<(), String>;

    /// Let both sides do all that they can do now. Errors: the connection is lost.
    fn drive(&mut self, now: i64, path: &mut Path) -> Result<(), String>;

    /// Return when the next timer is due.
    fn next(&mut self) -> i64;
}

/// The text and the place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

pub fn main<F: Flow>() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| *PANIC.lock().unwrap() = panic.to_string().replace('\n', " ")));
    for folder in io::stdin().lock().lines() {
        let run = folder.map_err(|error| error.to_string()).and_then(|folder| run::<F>(&folder));
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
fn run<F: Flow>(folder: &str) -> Result<String, String> {
    let mut path = Path::open(folder)?;
    chance::seed(path.seed() as u64);
    // A thread of its own, as generators of random numbers last as long as a thread.
    let scenario = std::thread::scope(|scope| scope.spawn(|| scenario::<F>(&mut path)).join());
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
fn scenario<F: Flow>(path: &mut Path) -> Result<(i64, Option<String>), String> {
    let mut flows = Vec::new();
    for number in 0..path.flows() {
        flows.push(F::new(number as i32, path)?);
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
        let due = flows.iter_mut().map(F::next).min().unwrap_or(i64::MAX);
        now = path.next().min(due).max(now + 1);
    }
    Ok((packets, None))
}

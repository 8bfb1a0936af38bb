//! The proxy as a program, for tests in other languages.
//!
//! `candor-fault-proxy ADDRESS FAULT...` prints its URL and runs until its standard input ends. With `mixed` as
//! the only fault, the plan is [`Fault::mixed`]. `GET /faults` returns the counts and idempotency keys.

#![expect(clippy::print_stdout, reason = "the tests read the address")]

use std::error::Error;
use std::io::{Read, stdin};

use candor_test_faults::{Fault, FaultProxy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let service = arguments.next().ok_or("the address of a service is needed")?.parse()?;
    let words: Vec<String> = arguments.collect();
    let plan = if words == ["mixed"] { Fault::mixed() } else { plan(&words)? };
    let proxy = FaultProxy::start(service, plan)?;
    println!("{}", proxy.url());
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn plan(words: &[String]) -> Result<Vec<Fault>, String> {
    let fault = |word: &String| {
        let known_fault = Fault::ALL.into_iter().find(|fault| fault.name() == word);
        known_fault.ok_or_else(|| format!("{word} is no fault"))
    };
    words.iter().map(fault).collect()
}

//! Fuzz target: reads any bytes as a file of people and plans its changes.

#![no_main]

#[path = "../../tests/rules/csv_fuzz/holds.rs"]
#[expect(dead_code, reason = "each program looks at one thing")]
mod holds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| holds::check_planning(bytes));

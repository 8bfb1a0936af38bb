//! Properties of the rules as another program sees them: readers, round trips, models and tables.

#![cfg(test)]

mod checks;
mod cost_of_texts;
mod errors;
mod evidence;
#[expect(dead_code, reason = "other tests of tokens stand in their crate")]
#[path = "../../../tokens/tests/rules/mint.rs"]
mod mint;
mod objective_histories;
mod reporting;
mod round_trip;
#[expect(dead_code, reason = "other tests of tokens stand in their crate")]
#[path = "../../../tokens/tests/rules/samples.rs"]
mod samples;
mod scim_dialects;
mod summaries;
mod words;

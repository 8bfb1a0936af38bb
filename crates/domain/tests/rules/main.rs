//! Properties of the rules as another program sees them: readers, round trips, models and tables.

#![cfg(test)]

mod admitted;
mod changed;
mod checks;
mod cost_of_texts;
mod decided;
mod errors;
mod objective_histories;
mod reporting;
mod round_trip;
mod shown;
mod summaries;
mod words;

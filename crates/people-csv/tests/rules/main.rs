//! Properties of files of people as another program sees them.

#![cfg(test)]

mod csv_fuzz;
mod csv_pieces;
mod csv_reader;
mod errors;

//! Copies of everything between the stores: whole, interrupted at every step, refused, and what consumers of events see.

#![cfg(test)]

mod by_tenant;
mod ends;
mod feed;
mod interrupted;
mod refused;
mod rows;
mod whole;

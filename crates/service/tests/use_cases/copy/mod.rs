//! Copies between the stores: complete, interrupted at every step, refused, and as seen by clients of the feed.

mod by_tenant;
pub(crate) mod ends;
mod feed;
mod interrupted;
mod refused;
mod rows;
mod whole;

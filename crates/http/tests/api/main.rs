//! The API as a client sees it.

mod smoke;
mod support;

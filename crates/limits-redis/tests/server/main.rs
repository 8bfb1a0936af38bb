//! Tests of the shared windows with a real server.

#[cfg(test)]
mod windows;

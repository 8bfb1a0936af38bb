//! The store of shared windows against a real server.

#[cfg(test)]
mod windows;

//! The candor binary: configuration, wiring, lifecycle, commands.

//! The rules of Candor: resources, lifecycles, events and access, without any I/O.

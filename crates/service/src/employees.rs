//! employees

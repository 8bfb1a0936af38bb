//! Departments and attributes (decisions G).

pub mod attributes;
pub mod departments;

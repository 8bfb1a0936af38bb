//! Errors about a file: each can be returned with `?` from a function of another program, and says its cause.

use std::error::Error;

use candor_domain::refusal::DomainError;
use candor_people_csv::{File, UploadRowError};

#[test]
fn unreadable_file_displays_its_cause() {
    let error: Box<dyn Error> = File::read(b"\"a").unwrap_err().into();
    assert!(error.to_string().starts_with("The file is not CSV in UTF-8 at line 1"), "{error}");
    let error: Box<dyn Error> = File::read(b"a\nb\n").unwrap_err().into();
    assert!(error.to_string().starts_with("email: "), "{error}");
}

#[test]
fn rejected_row_displays_its_problem() {
    let error: Box<dyn Error> = UploadRowError::from(DomainError::NotFound).into();
    assert!(!error.to_string().is_empty(), "{error}");
}

//! Request bodies of API keys (§5, decisions B4 to B7).

use super::super::{ALL_SCOPES, AccessLevel, Environment, Permission, Permissions};
use super::ApiKey;
use crate::fields::{Fields, Reference, StringEnum, Update};
use crate::id::EmployeeKind;
use crate::json::{Object, Value};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{self, Checked, Field, Line, OneOf, ReferenceRule, Rule, Shape, Whole};
use crate::time::Timestamp;

/// Maximum length of a key's name, in characters.
pub const NAME_CHARS: usize = 80;
/// Maximum number of words in a list of scopes.
const MAX_SCOPES: usize = 32;
/// Maximum overlap of a rotated secret (decision B7).
pub const MAX_OVERLAP_SECONDS: i64 = 604_800;
/// Overlap of a rotated secret if the request names none.
pub const DEFAULT_OVERLAP_SECONDS: i64 = 86_400;

const READ_ONLY: &[&str] = &[
    "id",
    "last4",
    "reads_per_minute",
    "writes_per_minute",
    "created_at",
    "updated_at",
    "last_used_at",
    "revoked_at",
    "link_expires_at",
];
const IMMUTABLE: &[&str] = &["environment", "access_level", "employee_id"];

pub(super) const NAME: Field<Line> = Field::new("name", rule::line(1..=NAME_CHARS));
pub(super) const SCOPES: Field<Checked<Permissions>> = Field::with_about(
    "scopes",
    rule::rule(scopes, || Shape::List {
        of: Box::new(Shape::Word(Permission::NAME)),
        min: 1,
        max: Permission::ALL.len() + 1,
        is_set: true,
    }),
    "The key of the request must have all of them.",
);
const ENVIRONMENT: Field<OneOf<Environment>> = Field::new("environment", rule::word());
pub(super) const ACCESS_LEVEL: Field<OneOf<AccessLevel>> = Field::new("access_level", rule::word());
const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const EXPIRES_AT: Field<Checked<Timestamp>> =
    Field::with_about("expires_at", rule::datetime(), "It must be in the future.");
const OVERLAP_SECONDS: Field<Whole> = Field::with_about(
    "overlap_seconds",
    rule::whole(0..=MAX_OVERLAP_SECONDS),
    "Seconds during which the previous secret stays valid, at most {max}.",
);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §5")]
pub struct Draft {
    pub name: String,
    pub environment: Environment,
    pub access_level: AccessLevel,
    pub scopes: Permissions,
    pub employee: Option<Reference<EmployeeKind>>,
    pub expires_at: Option<Timestamp>,
    /// Read quota. Only the operator sets a number above the default.
    pub reads_per_minute: Option<u32>,
    /// Write quota. Only the operator sets a number above the default.
    pub writes_per_minute: Option<u32>,
}

/// The body of an update, validated by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §5")]
pub struct Patch {
    pub name: Option<String>,
    pub scopes: Option<Permissions>,
    /// `Some(None)` removes the end.
    pub expires_at: Option<Option<Timestamp>>,
}

fn scopes(value: &Value) -> Result<Permissions, ValueError> {
    let words = rule::list(MAX_SCOPES, rule::text(0..=MAX_SCOPES * 4)).parse(value)?;
    if words.is_empty() {
        return Err(ValueError::new(Code::TooShort, "must have at least one scope"));
    }
    Permissions::from_words(words.iter().map(String::as_str)).ok_or_else(|| {
        let known: Vec<_> = Permission::words().into_iter().chain([ALL_SCOPES]).collect();
        ValueError::one_of(&known)
    })
}

/// Accepts an end in the future: a past end would create a key that is never valid.
///
/// # Errors
/// `out_of_range`.
pub fn is_end(at: Timestamp, now: Timestamp) -> Result<(), ValueError> {
    if at > now { Ok(()) } else { Err(ValueError::new(Code::OutOfRange, "must be in the future")) }
}

impl Draft {
    /// Reads the fields of a creation.
    pub fn read(fields: &mut Fields, now: Timestamp) -> Option<Self> {
        let (name, scopes) = (fields.required(&NAME), fields.required(&SCOPES));
        let environment = fields.present_or(&ENVIRONMENT, Environment::Live);
        let access_level = fields.present_or(&ACCESS_LEVEL, AccessLevel::Standard);
        let employee = fields.optional(&EMPLOYEE);
        let expires_at = fields.optional(&EXPIRES_AT.and(|at| is_end(at, now).map(|()| at)));
        Some(Self {
            name: name?,
            environment,
            access_level,
            scopes: scopes?,
            employee,
            expires_at,
            reads_per_minute: None,
            writes_per_minute: None,
        })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object, now: Timestamp) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, |fields| Self::read(fields, now))
    }
}

impl Patch {
    /// Reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            name: fields.present(&NAME),
            scopes: fields.present(&SCOPES),
            expires_at: fields.nullable(&EXPIRES_AT),
        }
    }

    /// Reads the body of an update.
    #[must_use]
    pub fn parse(body: Object) -> Update<Self> {
        Update::read(body, &[READ_ONLY, IMMUTABLE], Self::read)
    }
}

impl Update<Patch> {
    /// Checks the update against the stored key. A past end is accepted if it is unchanged.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn against(&self, stored: &ApiKey, now: Timestamp) -> Result<Patch, ValidationErrors> {
        let (patch, mut fields) = self.compare(stored);
        let new_end = patch.expires_at.filter(|end| *end != stored.expires_at).flatten();
        if let Some(flaw) = new_end.and_then(|end| is_end(end, now).err()) {
            fields.problem("expires_at", flaw);
        }
        fields.finish(Some(patch))
    }
}

/// Reads the fields of a rotation. Returns the overlap of the previous secret, in seconds.
pub fn read_rotation(fields: &mut Fields) -> i64 {
    fields.present_or(&OVERLAP_SECONDS, DEFAULT_OVERLAP_SECONDS)
}

/// Reads the body of a rotation. Returns the overlap of the previous secret, in seconds.
///
/// # Errors
/// One problem for each wrong field.
pub fn parse_rotation(body: Object) -> Result<i64, ValidationErrors> {
    let mut fields = Fields::new(body);
    let overlap = read_rotation(&mut fields);
    fields.finish(Some(overlap))
}

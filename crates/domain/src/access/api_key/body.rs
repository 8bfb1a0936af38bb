//! Request bodies of API keys (§5, decisions B4 to B7).

use super::super::grant::outlasts;
use super::super::networks::NETWORKS;
use super::super::{ALL_SCOPES, AccessLevel, AllowedNetworks, Environment, Permission, Permissions};
use super::{ApiKey, ApiKeyKind};
use crate::fields::{Fields, Reference, StringEnum};
use crate::id::{ConnectorKind, EmployeeKind};
use crate::json::{Object, Value};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{self, Checked, Field, Line, OneOf, ReferenceRule, Rule, Shape, Whole};
use crate::time::Timestamp;
use crate::update::Update;

/// Maximum length of a key's name, in characters.
pub const NAME_CHARS: usize = 80;
/// Maximum number of words in a list of scopes.
const MAX_SCOPES: usize = 32;
/// Maximum time for which the previous secret stays valid after a rotation, in seconds: one week (decision B7).
pub const MAX_OVERLAP_SECONDS: i64 = 604_800;
/// Time for which the previous secret stays valid if the request names none, in seconds: one day.
pub const DEFAULT_OVERLAP_SECONDS: i64 = 86_400;

const READ_ONLY: &[&str] = &[
    "id",
    "kind",
    "session_id",
    "identity_provider_id",
    "last4",
    "reads_per_minute",
    "writes_per_minute",
    "scim_per_minute",
    "created_at",
    "updated_at",
    "last_used_at",
    "revoked_at",
    "link_expires_at",
    "enabled_at",
];
const IMMUTABLE: &[&str] = &["environment", "access_level", "employee_id", "connector_id"];

pub(super) const NAME: Field<Line> = Field::new("name", rule::line(1..=NAME_CHARS));
impl crate::rule::DefaultValue for Permissions {
    fn to_document_text(&self) -> String {
        self.words().join(" ")
    }
}

/// Rule of a list of scopes.
pub const SCOPES_RULE: Checked<Permissions> = rule::rule(scopes, || Shape::List {
    of: Box::new(Shape::Word(Permission::NAME)),
    min: 1,
    max: Permission::ALL.len() + 1,
    is_set: true,
});
pub(super) const SCOPES: Field<Checked<Permissions>> =
    Field::with_about("scopes", SCOPES_RULE, "The calling key must have all of them.");
const ALLOWED_NETWORKS: Field<Checked<AllowedNetworks>> = Field::with_about(
    "allowed_networks",
    NETWORKS,
    "Each has a prefix length and no bits behind it, such as `192.0.2.0/24` or `2001:db8::/32`. If the calling key has \
     networks, each one lies inside one of them.",
);
const ENVIRONMENT: Field<OneOf<Environment>> = Field::new("environment", rule::word());
pub(super) const ACCESS_LEVEL: Field<OneOf<AccessLevel>> = Field::new("access_level", rule::word());
const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const CONNECTOR: Field<ReferenceRule<ConnectorKind>> = Field::with_about(
    "connector_id",
    rule::reference(),
    "Required with the scope `scim`. All other keys have no connector.",
);
const EXPIRES_AT: Field<Checked<Timestamp>> =
    Field::with_about("expires_at", rule::datetime(), "It must be in the future.");
const ENABLED: Field<Checked<bool>> = Field::with_about(
    "enabled",
    rule::rule(parse_enabled, || Shape::Flag),
    "`true` enables a key that is off because its person was deactivated and came back. It cannot be `false`: revoke \
     the key instead.",
);
const OVERLAP_SECONDS: Field<Whole> = Field::with_about(
    "overlap_seconds",
    rule::whole(0..=MAX_OVERLAP_SECONDS),
    "Seconds during which the previous secret stays valid, at most {max}.",
);

/// Scopes of every key of a connector.
const SCIM_ALONE: Permissions = Permissions::NONE.with(Permission::Scim);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §5")]
pub struct Draft {
    pub name: String,
    pub environment: Environment,
    pub access_level: AccessLevel,
    pub scopes: Permissions,
    pub employee: Option<Reference<EmployeeKind>>,
    pub connector: Option<Reference<ConnectorKind>>,
    pub expires_at: Option<Timestamp>,
    /// Read quota. Only the operator sets a number above the default.
    pub reads_per_minute: Option<u32>,
    /// Write quota. Only the operator sets a number above the default.
    pub writes_per_minute: Option<u32>,
    /// Quota of SCIM requests. Only the operator sets a number above the default.
    pub scim_per_minute: Option<u32>,
    pub allowed_networks: AllowedNetworks,
}

/// The body of an update, validated by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §5")]
pub struct Patch {
    pub name: Option<String>,
    pub scopes: Option<Permissions>,
    pub allowed_networks: Option<AllowedNetworks>,
    /// `Some(None)` removes the end.
    pub expires_at: Option<Option<Timestamp>>,
    /// `true` enables a key that stayed off when its person came back after a deactivation (decision B7).
    pub is_enabled: bool,
}

/// Parses the field `enabled`. Only `true` is valid, because a key is turned off by its revocation.
fn parse_enabled(value: &Value) -> Result<bool, ValueError> {
    if rule::flag().parse(value)? {
        Ok(true)
    } else {
        Err(ValueError::new(Code::NotPossible, "must be true; revoke the key to end it"))
    }
}

fn scopes(value: &Value) -> Result<Permissions, ValueError> {
    let words = rule::list(MAX_SCOPES, rule::text(0..=MAX_SCOPES * 4)).parse(value)?;
    if words.is_empty() {
        return Err(ValueError::new(Code::TooShort, "must have at least one scope"));
    }
    Permissions::from_words(words.iter().map(String::as_str)).ok_or_else(|| {
        let known_words: Vec<_> = Permission::words().into_iter().chain([ALL_SCOPES]).collect();
        ValueError::one_of(&known_words)
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
        let connector = fields.optional(&CONNECTOR);
        let allowed_networks = fields.present_or(&ALLOWED_NETWORKS, AllowedNetworks::EVERYWHERE);
        let expires_at = fields.optional(&EXPIRES_AT.and(|at| is_end(at, now).map(|()| at)));
        let draft = Self {
            name: name?,
            environment,
            access_level,
            scopes: scopes?,
            employee,
            connector,
            expires_at,
            reads_per_minute: None,
            writes_per_minute: None,
            scim_per_minute: None,
            allowed_networks,
        };
        for (field, flaw) in draft.conflicts() {
            fields.problem(field, flaw);
        }
        Some(draft)
    }

    /// Returns the errors of fields that contradict one another. A key with the scope `scim` has a connector, no
    /// further scope, the standard level and no person. All other keys have no connector.
    #[must_use]
    pub fn conflicts(&self) -> Vec<(&'static str, ValueError)> {
        if !self.scopes.is_scim() {
            let flaw = || ("connector_id", ValueError::format("null, unless `scopes` has the scope `scim`"));
            return self.connector.iter().map(|_| flaw()).collect();
        }
        let with_scim = |wanted: &str| ValueError::format(format!("{wanted} with the scope `scim`"));
        let only_scim = || ValueError::format("`scim` alone, without further scopes");
        let conflicts = [
            (self.scopes != SCIM_ALONE).then(|| ("scopes", only_scim())),
            (self.access_level != AccessLevel::Standard).then(|| ("access_level", with_scim("`standard`"))),
            self.employee.as_ref().map(|_| ("employee_id", with_scim("null"))),
            self.connector.is_none().then(|| ("connector_id", ValueError::required())),
        ];
        conflicts.into_iter().flatten().collect()
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
            allowed_networks: fields.present(&ALLOWED_NETWORKS),
            expires_at: fields.nullable(&EXPIRES_AT),
            is_enabled: fields.present_or(&ENABLED, false),
        }
    }

    /// Reads the body of an update.
    #[must_use]
    pub fn parse(body: Object) -> Update<Self> {
        Update::read(body, &[READ_ONLY, IMMUTABLE], Self::read)
    }
}

impl Update<Patch> {
    /// Checks the update against the stored key. A past end is accepted if it is unchanged. The end of a session can
    /// only become earlier. The key of a connector keeps the scope `scim` alone, and no other key can get it.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve_with(&self, stored: &ApiKey, now: Timestamp) -> Result<Patch, ValidationErrors> {
        let (patch, mut fields) = self.compare(stored);
        let new_end = patch.expires_at.filter(|end| *end != stored.expires_at).flatten();
        if let Some(flaw) = new_end.and_then(|end| is_end(end, now).err()) {
            fields.problem("expires_at", flaw);
        }
        let is_longer = patch.expires_at.is_some_and(|end| outlasts(end, stored.expires_at));
        if stored.kind == ApiKeyKind::Session && is_longer {
            let message = "must not be later than the end of the session; sign in again for a longer one";
            fields.problem("expires_at", ValueError::new(Code::OutOfRange, message));
        }
        let scopes = patch.scopes.unwrap_or(stored.scopes);
        let is_kept = if stored.connector_id.is_some() { scopes == SCIM_ALONE } else { !scopes.is_scim() };
        if !is_kept {
            let allowed_scopes =
                "`scim` alone for the key of a connector, and scopes other than `scim` for every other key";
            fields.problem("scopes", ValueError::format(allowed_scopes));
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

#[cfg(test)]
mod tests {
    use super::super::{KeyReferences, generate};
    use super::*;
    use crate::id::{ConnectorId, KeyId};
    use crate::people::connector;
    use crate::refusal::DomainError;
    use ulid::Ulid;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const CONNECTOR_ID: &str = "con_01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn parse(rest: &str) -> Result<Draft, Vec<(String, Code)>> {
        let body = serde_json::from_str(&format!(r#"{{"name": "Okta", {rest}}}"#)).unwrap();
        Draft::parse(body, NOW).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    fn create_key(rest: &str, connector: Option<connector::Type>) -> Result<ApiKey, DomainError> {
        let (draft, secret) = (parse(rest).unwrap(), generate(Environment::Live, [1; 32]));
        let references = KeyReferences { person_exists: true, connector };
        ApiKey::create(KeyId::from_ulid(Ulid(2)), draft, &secret, None, references, NOW)
            .map(|decision| decision.state)
    }

    #[test]
    fn scim_scope_stands_alone_and_needs_a_connector() {
        let with = format!(r#""connector_id": "{CONNECTOR_ID}""#);
        let table = [
            (format!(r#""scopes": ["scim"], {with}"#), vec![]),
            (r#""scopes": ["*"]"#.to_owned(), vec![]),
            (r#""scopes": ["scim"]"#.to_owned(), vec![("connector_id", Code::Required)]),
            (format!(r#""scopes": ["audit:read"], {with}"#), vec![("connector_id", Code::InvalidFormat)]),
            (format!(r#""scopes": ["*"], {with}"#), vec![("connector_id", Code::InvalidFormat)]),
            (format!(r#""scopes": ["scim", "audit:read"], {with}"#), vec![("scopes", Code::InvalidFormat)]),
            (
                format!(r#""scopes": ["scim"], {with}, "access_level": "admin", "employee_id": "emp_1""#),
                vec![("access_level", Code::InvalidFormat), ("employee_id", Code::InvalidFormat)],
            ),
        ];
        for (body, wanted) in table {
            let expected_codes: Vec<_> =
                wanted.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
            assert_eq!(parse(&body).err().unwrap_or_default(), expected_codes, "{body}");
        }
    }

    #[test]
    fn connector_of_a_key_must_exist_and_speak_scim() {
        let body = format!(r#""scopes": ["scim"], "connector_id": "{CONNECTOR_ID}""#);
        let key = create_key(&body, Some(connector::Type::Scim)).unwrap();
        let id: ConnectorId = CONNECTOR_ID.parse().unwrap();
        assert_eq!(key.connector_id, Some(id));
        let code = |refused: DomainError| {
            let DomainError::Unprocessable(problems) = refused else { panic!("{refused:?}") };
            problems.as_slice()[0].code
        };
        assert_eq!(code(create_key(&body, None).unwrap_err()), Code::NotFoundInOrganization);
        let type_refusal = create_key(&body, Some(connector::Type::CsvFeed)).unwrap_err();
        assert_eq!(code(type_refusal), Code::InvalidState);
        let plain = create_key(r#""scopes": ["audit:read"]"#, None).unwrap();
        for (stored, scopes, accepted) in [
            (&key, r#"["scim"]"#, true),
            (&key, r#"["audit:read"]"#, false),
            (&key, r#"["*"]"#, false),
            (&plain, r#"["scim"]"#, false),
            (&plain, r#"["scim", "audit:read"]"#, false),
            (&plain, r#"["*"]"#, true),
        ] {
            let body = serde_json::from_str(&format!(r#"{{"scopes": {scopes}}}"#)).unwrap();
            assert_eq!(Patch::parse(body).resolve_with(stored, NOW).is_ok(), accepted, "{scopes}");
        }
    }
}

//! Portal links: API keys whose secret is handed out once, for the code of a link into the console (decision B8).
//!
//! A link is an API key from the start, so that it is listed, audited and revoked like one. Until the link is
//! opened, the key stores the hash of the link's code and authenticates nothing.

use super::body::{ACCESS_LEVEL, NAME, SCOPES};
use super::{ApiKey, Draft, KeyHash, KeyRecord, KeyReferences, hash, last4};
use crate::access::{AccessLevel, Caller, Permission, Permissions};
use crate::decision::Decision;
use crate::fields::{Fields, StringEnum};
use crate::id::KeyId;
use crate::json::{Object, Value};
use crate::people::Status;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Checked, Field, Flag, Rule, Shape, Text, Whole};
use crate::secret::Secret;
use crate::time::Timestamp;

/// Lifetime of the code, in seconds. It also ends with its key.
pub const CODE_SECONDS: i64 = 1800;
/// Maximum lifetime of the key of a link, in seconds: one day.
pub const MAX_LINK_SECONDS: i64 = 86_400;
/// Minimum lifetime of the key of a link, in seconds: enough to open the link.
const MIN_LINK_SECONDS: i64 = 60;
/// Lifetime of the key of a link if the request names none, in seconds.
const DEFAULT_LINK_SECONDS: i64 = 3600;
/// Maximum length of the address that a link opens, in characters.
pub const START_CHARS: usize = 200;
/// Most attempts to open a link, per minute and client address.
pub const EXCHANGES_PER_MINUTE: u32 = 20;
/// Length of the longest code that is looked up, in characters.
const MAX_CODE_CHARS: usize = 200;

/// Name of the key if the request names none.
const DEFAULT_NAME: &str = "Portal link";
/// First screen if the request names none.
const DEFAULT_START: &str = "/";

/// Fields that the service takes from the key of the request.
const INHERITED: &[&str] = &["environment", "employee_id", "expires_at"];

const READ_ONLY: Field<Flag> = Field::with_about(
    "read_only",
    rule::flag(),
    "`true` grants only the read scopes of `scopes`. One of them must be a read scope.",
);
const EXPIRES_IN: Field<Whole> = Field::with_about(
    "expires_in",
    rule::whole(MIN_LINK_SECONDS..=MAX_LINK_SECONDS),
    "Lifetime of the key in seconds, from the creation of the link. If absent, it is 3600, or less if the \
     calling key expires sooner.",
);
const START: Field<Checked<String>> = Field::with_about(
    "start",
    rule::rule(start, || Shape::Text { min: 1, max: START_CHARS }),
    "Screen that the link opens: its path in the console with filters, such as `/webhooks?view=deliveries`. If \
     absent, it is `/`.",
);
const CODE: Field<Text> =
    Field::with_about("code", rule::text(1..=MAX_CODE_CHARS), "Code of the link, from the fragment of its URL.");

/// The body of a portal link, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision B8")]
pub struct LinkDraft {
    pub name: String,
    /// Permissions of the key, without writes if the link is read-only.
    pub scopes: Permissions,
    pub access_level: AccessLevel,
    /// Lifetime of the key in seconds; `None` for the default.
    pub expires_in: Option<i64>,
    /// Path and filters of the first screen, with a leading slash.
    pub start: String,
}

/// Accepts the address of a screen: no other origin, no fragment, and no segment that leaves the console.
fn start(value: &Value) -> Result<String, ValueError> {
    let text = rule::text(1..=START_CHARS).parse(value)?;
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte);
    let is_query = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-.~%=&+:,[]".contains(&byte);
    let is_screen = path.starts_with('/') && !path.starts_with("//");
    if is_screen && path.bytes().all(is_path) && query.bytes().all(is_query) {
        Ok(text)
    } else {
        Err(ValueError::format("the path of a screen, such as /webhooks?view=deliveries"))
    }
}

/// Refuses the scope of identity providers, whose keys belong to a connector and open no console.
fn not_of_a_provider(scopes: Permissions) -> Result<Permissions, ValueError> {
    if scopes.is_scim() {
        Err(ValueError::new(Code::InvalidEnum, "must not contain scim, which is for keys of a connector"))
    } else {
        Ok(scopes)
    }
}

/// Returns the read scopes of a read-only link.
fn readable(scopes: Permissions) -> Result<Permissions, ValueError> {
    let is_read = |scope: &&Permission| scopes.has(**scope) && scope.word().ends_with(":read");
    let reads = Permission::ALL.iter().filter(is_read).fold(Permissions::NONE, |set, scope| set.with(*scope));
    if reads == Permissions::NONE {
        Err(ValueError::new(Code::TooShort, "must have a read scope if read_only is true"))
    } else {
        Ok(reads)
    }
}

impl LinkDraft {
    /// Reads the fields of a portal link.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let scopes = fields.required(&SCOPES);
        let access_level = fields.present_or(&ACCESS_LEVEL, AccessLevel::Standard);
        let name = fields.present(&NAME).unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let is_read_only = fields.present_or(&READ_ONLY, false);
        let expires_in = fields.present(&EXPIRES_IN);
        let start = fields.present(&START).unwrap_or_else(|| DEFAULT_START.to_owned());
        let scopes = match scopes.map(|set| if is_read_only { readable(set) } else { not_of_a_provider(set) })? {
            Ok(scopes) => scopes,
            Err(flaw) => {
                fields.problem("scopes", flaw);
                return None;
            }
        };
        Some(Self { name, scopes, access_level, expires_in, start })
    }

    /// Reads the body of a portal link.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, INHERITED, Self::read)
    }

    /// Returns the draft of the link's key. It has the person and the environment of `granter`, and by default no
    /// later end.
    #[must_use]
    pub fn for_granter(&self, granter: &Caller, at: Timestamp) -> Draft {
        let default = at.plus_seconds(DEFAULT_LINK_SECONDS);
        let end = match self.expires_in {
            Some(seconds) => at.plus_seconds(seconds),
            None => granter.expires_at.map_or(default, |own| own.min(default)),
        };
        Draft {
            name: self.name.clone(),
            environment: granter.tenant.environment,
            access_level: self.access_level,
            scopes: self.scopes,
            employee: granter.bound_to().map(Into::into),
            expires_at: Some(end),
            connector: None,
            reads_per_minute: None,
            writes_per_minute: None,
            scim_per_minute: None,
        }
    }
}

/// Reads the fields of an exchange. Returns the code.
pub fn read_exchange(fields: &mut Fields) -> Option<String> {
    fields.required(&CODE)
}

/// Reads the code from the body of an exchange.
///
/// # Errors
/// One problem for each wrong field.
pub fn parse_exchange(body: Object) -> Result<String, ValidationErrors> {
    let mut fields = Fields::new(body);
    let code = read_exchange(&mut fields);
    fields.finish(code)
}

impl ApiKey {
    /// Creates the key of a portal link with the link's code. `granter` is the caller, or `None` if the operator
    /// creates the link.
    ///
    /// The end of the key is announced by no event, because the end was near from the start.
    ///
    /// # Errors
    /// [`CannotGrant`](crate::access::PermissionDenied::CannotGrant) for access that the caller lacks.
    pub fn create_link(
        id: KeyId,
        draft: Draft,
        code: &Secret,
        granter: Option<&Caller>,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let references = KeyReferences { person_exists: true, connector: None };
        let code_end = at.plus_seconds(CODE_SECONDS);
        let link_end = draft.expires_at.map_or(code_end, |end| end.min(code_end));
        let decision = Self::create(id, draft, code, granter, references, at)?;
        let state = Self { link_expires_at: Some(link_end), expiring_due: None, ..decision.state };
        Ok(Decision::for_creation(state, "api_key.create_link", vec![]))
    }
}

impl KeyRecord {
    /// Opens the portal link of this key: `secret` replaces the code, which is used up.
    ///
    /// # Errors
    /// [`DomainError::NotFound`] if the code is not the key's, or was used, or if the link or the key has ended.
    pub fn open_link(
        &self,
        code: KeyHash,
        secret: &Secret,
        at: Timestamp,
    ) -> Result<Decision<ApiKey>, DomainError> {
        let key = &self.key;
        let lasts = |end: Option<Timestamp>| end.is_none_or(|end| at < end);
        let is_link = key.hash == code && key.link_expires_at.is_some() && lasts(key.link_expires_at);
        let is_usable = key.revoked_at.is_none() && lasts(key.expires_at);
        let has_left = match (key.employee_id, self.holder) {
            (None, _) => false,
            (Some(_), holder) => {
                holder.is_none_or(|holder| holder.status == Status::Deactivated || !key.is_on(holder.returned_at))
            }
        };
        if !is_link || !is_usable || has_left {
            return Err(DomainError::NotFound);
        }
        let state = ApiKey {
            hash: hash(secret.reveal()),
            last4: last4(secret),
            link_expires_at: None,
            updated_at: at.strictly_after(key.updated_at),
            ..key.clone()
        };
        Ok(Decision::for_change(key, state, "api_key.open_link", vec![]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, body, caller, codes, holder, key, record, secret, set};
    use super::super::{Holder, generate_code, read_code};
    use super::*;
    use crate::access::{BoundPerson, Environment, PermissionDenied};
    use crate::id::EmployeeId;
    use crate::people::Role;
    use Permission::{ObservationsRead, ObservationsWrite, WebhooksRead};
    use ulid::Ulid;

    const PERSON: EmployeeId = EmployeeId::from_ulid(Ulid(7));

    fn code() -> Secret {
        generate_code([9; 32])
    }

    fn parse(text: &str) -> Result<LinkDraft, ValidationErrors> {
        LinkDraft::parse(body(text))
    }

    fn link(text: &str, granter: &Caller) -> Result<ApiKey, DomainError> {
        let draft = parse(text).unwrap().for_granter(granter, NOW);
        let creation = ApiKey::create_link(KeyId::from_ulid(Ulid(3)), draft, &code(), Some(granter), NOW)?;
        Ok(creation.state)
    }

    fn at(seconds: i64) -> Timestamp {
        NOW.plus_seconds(seconds)
    }

    #[test]
    fn link_has_defaults_for_all_fields_but_its_scopes() {
        let draft = parse(r#"{"scopes":["webhooks:read"]}"#).unwrap();
        let expected_link = LinkDraft {
            name: "Portal link".to_owned(),
            scopes: set(&[WebhooksRead]),
            access_level: AccessLevel::Standard,
            expires_in: None,
            start: "/".to_owned(),
        };
        assert_eq!(draft, expected_link);
        let table = [
            ("{}", "scopes", Code::Required),
            (r#"{"scopes":["*"],"expires_in":59}"#, "expires_in", Code::OutOfRange),
            (r#"{"scopes":["*"],"expires_in":86401}"#, "expires_in", Code::OutOfRange),
            (r#"{"scopes":["*"],"read_only":null}"#, "read_only", Code::Required),
            (r#"{"scopes":["observations:write"],"read_only":true}"#, "scopes", Code::TooShort),
            (r#"{"scopes":["*"],"environment":"test"}"#, "environment", Code::ReadOnly),
            (r#"{"scopes":["*"],"employee_id":"emp_1"}"#, "employee_id", Code::ReadOnly),
            (r#"{"scopes":["*"],"code":"x"}"#, "code", Code::UnknownField),
        ];
        for (text, field, code) in table {
            assert_eq!(codes(&parse(text).unwrap_err()), [(field, code)], "{text}");
        }
    }

    #[test]
    fn start_is_an_address_inside_the_console() {
        let parse = |start: &str| parse(&format!(r#"{{"scopes":["*"],"start":"{start}"}}"#));
        for good in
            ["/", "/webhooks", "/webhooks/whk_1?view=deliveries&filter%5Bstate%5D=failed", "/feedback?q=a+b"]
        {
            assert_eq!(parse(good).unwrap().start, good);
        }
        let bad =
            ["webhooks", "//evil.example", "/../v1/me", "/%2e%2e/v1", "/a#key=x", "/a b", "/?q=<b>", "/a\\\\b"];
        for text in bad {
            assert_eq!(codes(&parse(text).unwrap_err()), [("start", Code::InvalidFormat)], "{text}");
        }
        assert_eq!(codes(&parse(&format!("/{}", "a".repeat(200))).unwrap_err()), [("start", Code::TooLong)]);
    }

    #[test]
    fn read_only_link_has_no_write_scope() {
        let scopes = |text: &str| parse(text).unwrap().scopes;
        let some = scopes(r#"{"scopes":["observations:read","observations:write"],"read_only":true}"#);
        assert_eq!(some, set(&[ObservationsRead]));
        let all = scopes(r#"{"scopes":["*"],"read_only":true}"#);
        assert!(Permission::ALL.iter().all(|scope| all.has(*scope) == scope.word().ends_with(":read")));
        assert_ne!(all, Permissions::ALL, "no scope that is added later");
    }

    #[test]
    fn link_grants_no_more_than_its_granter_has() {
        let few = caller(set(&[ObservationsRead]), AccessLevel::Standard);
        let cannot_grant = Err(DomainError::Denied(PermissionDenied::CannotGrant));
        assert_eq!(link(r#"{"scopes":["observations:write"]}"#, &few), cannot_grant);
        assert_eq!(link(r#"{"scopes":["observations:read"],"access_level":"admin"}"#, &few), cannot_grant);
        assert!(link(r#"{"scopes":["observations:read"]}"#, &few).is_ok());
        let ending = Caller { expires_at: Some(at(600)), ..few };
        let body_with_end = |seconds: i64| format!(r#"{{"scopes":["observations:read"],"expires_in":{seconds}}}"#);
        assert_eq!(link(&body_with_end(601), &ending), cannot_grant);
        assert_eq!(link(&body_with_end(600), &ending).unwrap().expires_at, Some(at(600)));
        let short_link = link(r#"{"scopes":["observations:read"]}"#, &ending).unwrap();
        assert_eq!((short_link.expires_at, short_link.link_expires_at), (Some(at(600)), Some(at(600))));
    }

    #[test]
    fn key_of_a_link_inherits_person_and_environment() {
        let mut granter = caller(Permissions::ALL, AccessLevel::Admin);
        granter.tenant.environment = Environment::Test;
        granter.person = Some(BoundPerson { id: PERSON, is_org_admin: false });
        let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
        assert_eq!((fresh.environment, fresh.employee_id), (Environment::Test, Some(PERSON)));
        assert_eq!((fresh.expires_at, fresh.link_expires_at), (Some(at(3600)), Some(at(1800))));
        assert_eq!((fresh.expiring_due, fresh.remind_at), (None, None), "the end is not announced");
    }

    #[test]
    fn code_opens_its_link_once() {
        let granter = caller(Permissions::ALL, AccessLevel::Admin);
        let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
        let hash = read_code(code().reveal()).unwrap();
        assert_eq!(fresh.hash, hash);
        assert_eq!(record(fresh.clone(), None).authenticate(hash, NOW), None, "a code is no key");
        let decision = record(fresh, None).open_link(hash, &secret(2), at(5)).unwrap();
        assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["last4", "link_expires_at"]);
        let opened_key = record(decision.state, None);
        assert_eq!(opened_key.open_link(hash, &secret(3), at(6)).err(), Some(DomainError::NotFound));
        let secret = super::hash(secret(2).reveal());
        assert!(opened_key.authenticate(secret, at(6)).is_some());
        assert_eq!(opened_key.authenticate(secret, at(3600)), None, "the key ends with its lifetime");
        assert_eq!(opened_key.open_link(secret, &code(), at(6)).err(), Some(DomainError::NotFound));
    }

    #[test]
    fn ended_revoked_or_orphaned_link_is_not_opened() {
        let hash = read_code(code().reveal()).unwrap();
        let granter = caller(Permissions::ALL, AccessLevel::Admin);
        let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
        let bound_link = ApiKey { employee_id: Some(PERSON), ..fresh.clone() };
        let holder = holder(Role::Employee);
        let person = |status| Some(Holder { status, ..holder });
        let returned_holder = Some(Holder { returned_at: Some(at(1)), ..holder });
        let table = [
            ("in time", fresh.clone(), None, at(1799), true),
            ("at the end of the code", fresh.clone(), None, at(1800), false),
            ("at the end of the key", ApiKey { expires_at: Some(at(60)), ..fresh.clone() }, None, at(60), false),
            ("revoked", fresh.revoke(at(1)).unwrap().state, None, at(2), false),
            ("rotated", fresh.rotate(&secret(4), 60, &granter, at(1)).unwrap().state, None, at(2), false),
            ("of an active person", bound_link.clone(), person(Status::Active), at(1), true),
            ("of a person who has left", bound_link.clone(), person(Status::Deactivated), at(1), false),
            ("of a person who came back since", bound_link.clone(), returned_holder, at(1), false),
            ("of a person who is not there", bound_link, None, at(1), false),
            ("a key without a link", key(), None, at(1), false),
        ];
        for (what, key, person, at, opens) in table {
            assert_eq!(record(key, person).open_link(hash, &secret(2), at).is_ok(), opens, "{what}");
        }
        let other = read_code(generate_code([8; 32]).reveal()).unwrap();
        assert!(record(fresh, None).open_link(other, &secret(2), NOW).is_err());
    }

    #[test]
    fn rotation_voids_the_link_and_keeps_no_code() {
        let granter = caller(set(&[ObservationsRead, ObservationsWrite]), AccessLevel::Standard);
        let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
        let key_now = fresh.rotate(&secret(2), 60, &granter, at(1)).unwrap().state;
        assert_eq!((key_now.previous, key_now.previous_expiring_due, key_now.link_expires_at), (None, None, None));
        assert!(record(key_now, None).authenticate(super::hash(secret(2).reveal()), at(2)).is_some());
    }
}

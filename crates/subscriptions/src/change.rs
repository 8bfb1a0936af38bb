//! Creation, update and secret rotation of subscriptions, and the audit entry of a deletion (§3.4, §4.4, decisions F1
//! to F6).

use candor_domain::access::{Caller, PermissionError};
use candor_domain::audit::{AuditDraft, Change, Changes};
use candor_domain::decision::Decision;
use candor_domain::event::EventType;
use candor_domain::fields::{Fields, StringEnum};
use candor_domain::id::WebhookId;
use candor_domain::json::Value;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::receiver_url::{ReceiverUrl, URL_CHARS, Verdict};
use candor_domain::refusal::DomainError;
use candor_domain::rule::{self, Checked, Field, Flag, Shape, Whole};
use candor_domain::time::Timestamp;
use candor_domain::update::{Update, parse_new, parse_update};
use serde_json::json;

use super::custom_headers::{self, CustomHeaders, HeaderPatch, SealedHeaderPatch};
use super::filter::{FILTER, may_filter};
use super::{Content, ContentPatch, EventFilter, PayloadForm, SealedSecret, Streak, Subscription, Topic, Topics};

/// Length of the longest description, in characters (§2.4).
pub const DESCRIPTION_CHARS: usize = 200;
/// Time for which the previous secret also signs after a rotation without `overlap_seconds`, in seconds (§6.4).
pub const ROTATION_OVERLAP_SECONDS: i64 = 86_400;
/// Largest value of `overlap_seconds`, in seconds; a week, as for API keys (decisions B7, F5).
pub const MAX_ROTATION_OVERLAP_SECONDS: i64 = 604_800;
/// Largest value of `max_per_second`.
pub const MAX_RATE: i64 = 1_000;
/// Maximum number of entries of `event_types`, including duplicates. The catalog has fewer types.
pub const MAX_TOPICS: usize = 100;
/// Maximum number of secrets that sign at one time. Each adds 68 bytes to the signature header, and receivers
/// limit the size of headers.
const MAX_SECRETS: usize = 32;

const READ_ONLY: &[&str] = &[
    "id",
    "secret",
    "effective_event_types",
    "last_delivery_at",
    "last_delivery_status",
    "created_at",
    "updated_at",
];

const URL: Field<rule::Url<ReceiverUrl>> = Field::with_about(
    "url",
    rule::url(URL_CHARS, ReceiverUrl::parse),
    "It must not contain a user or password. 422 if public DNS does not know the host or one of its addresses is \
     private.",
);
const ACTIVE: Field<Flag> =
    Field::with_about("active", rule::flag(), "`true` resumes it and resets the count of failures.");
const ROTATE_SECRET: Field<Flag> = Field::with_about(
    "rotate_secret",
    rule::flag(),
    "`true` creates a new secret. The previous secret also signs for `overlap_seconds`.",
);
const OVERLAP_SECONDS: Field<Whole> = Field::with_about(
    "overlap_seconds",
    rule::whole(0..=MAX_ROTATION_OVERLAP_SECONDS),
    "Seconds after which all previous secrets stop signing; 0 ends them at once. Requires `rotate_secret`. If \
     omitted, the previous secret signs for another 86400 seconds.",
);

const NEW_HEADERS: Field<custom_headers::Rule> =
    Field::with_about("headers", custom_headers::Rule, "A name with the value null is ignored.");
const HEADERS: Field<custom_headers::Rule> = Field::with_about(
    "headers",
    custom_headers::Rule,
    "Names are merged one by one: a value sets its header, null removes it.",
);

/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// URL of the receiver.
    pub url: ReceiverUrl,
    /// The other members of the body, such as `event_types` and `payload`.
    pub content: Content,
    /// Custom headers by lower-case name.
    pub headers: HeaderPatch,
    /// Conditions that an event must meet; `None` for all events.
    pub filter: Option<EventFilter>,
}

/// The body of an update, validated on its own. `None` keeps the stored value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// URL of the receiver, only if it changes; its addresses must then be checked.
    pub url: Option<ReceiverUrl>,
    /// `false` pauses delivery; `true` resumes it.
    pub active: Option<bool>,
    /// The other members of the subscription.
    pub content: ContentPatch,
    /// Changes of custom headers by lower-case name.
    pub headers: HeaderPatch,
    /// Content filter; `Some(None)` removes it.
    pub filter: Option<Option<EventFilter>>,
    /// `true` to create a new secret.
    pub rotate_secret: bool,
    /// Seconds until every earlier secret ends; only with `rotate_secret`.
    pub overlap_seconds: Option<i64>,
}

/// The rule for a list of at least one topic.
pub(super) const TOPICS: Checked<Topics> = rule::rule(topics, || Shape::List {
    of: Box::new(Shape::Word(Topic::NAME)),
    min: 1,
    max: MAX_TOPICS,
    is_set: false,
});

fn topics(value: &Value) -> Result<Topics, ValueError> {
    let Value::List(items) = value else {
        return Err(ValueError::format(format!("an array, not {}", value.kind())));
    };
    if items.is_empty() {
        return Err(ValueError::new(Code::TooShort, "must have at least one event type"));
    }
    if items.len() > MAX_TOPICS {
        return Err(ValueError::new(Code::TooLong, format!("must have at most {MAX_TOPICS} entries")));
    }
    let topic = |item: &Value| {
        let Value::Text(text) = item else {
            return Err(ValueError::format(format!("an array of strings, not of {}", item.kind())));
        };
        Topic::from_word(text)
    };
    Ok(Topics::new(items.iter().map(topic).collect::<Result<Vec<_>, _>>()?))
}

/// Returns the payload form whose read scopes a caller needs. With a filter it is the full form: the filter tells
/// about the content of events, even if they are sent in the thin form.
const fn read_form(payload: PayloadForm, has_filter: bool) -> PayloadForm {
    if has_filter { PayloadForm::Full } else { payload }
}

/// Returns a URL for the audit log: scheme, host and port, with `/…` in place of the rest. For many receivers,
/// such as those of chats, the path is a secret, and audit entries outlive the subscription.
fn without_path(text: &str) -> String {
    let Ok(target) = ReceiverUrl::parse(text) else { return String::new() };
    let url = target.url();
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    format!("{}{}", url.origin().ascii_serialization(), if is_bare { "" } else { "/…" })
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (url, content) = (fields.required(&URL), Content::read(fields));
        let headers = custom_headers::read(fields, &NEW_HEADERS);
        CustomHeaders::default().check_patch(&headers, fields);
        let filter = fields.optional(&FILTER).and_then(|filter| fields.nested("filter", filter)?.some());
        Some(Self { url: url?, content: content?, headers, filter })
    }
}

parse_new!(Draft, READ_ONLY);

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        let patch = Self {
            url: fields.present(&URL),
            content: ContentPatch::read(fields),
            headers: custom_headers::read(fields, &HEADERS),
            filter: read_filter(fields),
            active: fields.present(&ACTIVE),
            rotate_secret: fields.present(&ROTATE_SECRET).unwrap_or_default(),
            overlap_seconds: fields.present(&OVERLAP_SECONDS),
        };
        if patch.overlap_seconds.is_some() && !patch.rotate_secret {
            fields.problem(
                "rotate_secret",
                ValueError::new(Code::Required, "must be true when `overlap_seconds` is given"),
            );
        }
        patch
    }
}

parse_update!(Patch, [READ_ONLY]);

/// Reads the filter of an update: `None` if it is absent, `Some(None)` to remove it.
fn read_filter(fields: &mut Fields) -> Option<Option<EventFilter>> {
    let Some(filter) = fields.nullable(&FILTER)? else { return Some(None) };
    fields.nested("filter", filter).map(EventFilter::some)
}

impl Patch {
    /// Checks an update against the stored subscription. An unchanged URL is left out.
    ///
    /// A stored credential is for the destination that it was given for. So a URL with another scheme, host or port
    /// needs every custom header anew, and rotates the signing secret without an overlap (decision F1).
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve(update: &Update<Self>, stored: &Subscription) -> Result<Self, ValidationErrors> {
        let (patch, mut fields) = update.compare(stored);
        stored.headers.check_patch(&patch.headers, &mut fields);
        let url = patch.url.clone().filter(|url| url.as_str() != stored.url);
        let is_elsewhere = url.as_ref().is_some_and(|url| !url.has_origin_of(&stored.url));
        if is_elsewhere {
            stored.headers.require_anew(&patch.headers, &mut fields);
        }
        let patch = Patch { url, ..fields.finish(Some(patch))? };
        Ok(if is_elsewhere { Patch { rotate_secret: true, overlap_seconds: Some(0), ..patch } } else { patch })
    }
}

impl Subscription {
    /// Creates a subscription of this caller. `verdict` is the result of checking the URL, `sealed` the secret in its
    /// stored form, `headers` the headers of the draft with sealed values.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] for a URL that must not be called (decision F1), and
    /// [`DomainError::Denied`] for event types that the caller must not read (decision F6).
    pub fn create(
        id: WebhookId,
        caller: &Caller,
        draft: Draft,
        verdict: Verdict,
        sealed: Vec<u8>,
        headers: SealedHeaderPatch,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        verdict.check().map_err(|flaw| DomainError::unprocessable("url", flaw))?;
        let needed_form = read_form(draft.content.payload, draft.filter.is_some());
        let effective_event_types = draft.content.event_types.granted_to(caller, needed_form)?;
        may_filter(caller, draft.filter.as_ref())?;
        let state = Self {
            id,
            url: draft.url.as_str().to_owned(),
            effective_event_types,
            event_types: draft.content.event_types,
            active: true,
            description: draft.content.description,
            payload: draft.content.payload,
            headers: CustomHeaders::default().apply_patch(headers),
            filter: draft.filter,
            max_per_second: draft.content.max_per_second,
            last_delivery_at: None,
            last_delivery_status: None,
            created_at: at,
            updated_at: at,
            secrets: vec![SealedSecret { sealed, ends_at: None }],
            streak: Streak::default(),
            failing_due: None,
            keeps_all_types: false,
        };
        let mut decision = Decision::for_creation(state, "webhook.create", vec![]);
        decision.audit.changes = decision.state.member_changes(|value| Change::from_null(&value));
        Ok(decision)
    }

    /// Returns a change for each member that tells what the subscription sends and where. The audit log keeps these
    /// changes after the subscription is deleted.
    fn member_changes(&self, change: impl Fn(serde_json::Value) -> Change) -> Changes {
        let members = [
            ("url", json!(without_path(&self.url))),
            ("event_types", json!(self.event_types)),
            ("payload", json!(self.payload)),
            ("filter", json!(self.filter)),
            ("headers", json!(self.headers.without_values())),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), change(value))).collect()
    }

    /// Checks that this caller may read the events that the subscription sends at present. Otherwise a caller could
    /// narrow the event types to those that they may read and change the URL: after the owner restores the types, the
    /// new URL would get events that the caller may not read.
    fn check_access(&self, caller: &Caller) -> Result<(), PermissionError> {
        let present = read_form(self.payload, self.filter.is_some());
        let sends = |kind: &&EventType| self.effective_event_types.cover(**kind);
        EventType::ALL.iter().filter(sends).try_for_each(|kind| present.may_reach(caller, *kind))?;
        may_filter(caller, self.filter.as_ref())
    }

    /// Updates a subscription, or returns `None` if nothing changes. A caller who changes the URL, the event types,
    /// the payload or the filter must be allowed to read the events before and after the change.
    ///
    /// `verdict` is the result of checking the URL of the patch, if it has one. `sealed` is the new secret in its
    /// stored form, if the patch asks for one. `headers` has the headers that the patch sets or removes, without those
    /// that it keeps, with sealed values.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] for a URL that must not be called, and [`DomainError::Denied`] for event
    /// types that the caller must not read (decision F6).
    pub fn update(
        &self,
        caller: &Caller,
        patch: Patch,
        verdict: Option<Verdict>,
        sealed: Option<Vec<u8>>,
        headers: SealedHeaderPatch,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        let action = if sealed.is_some() { "webhook.rotate" } else { "webhook.update" };
        let mut state = self.clone();
        if let Some(sealed_secret) = sealed {
            state.secrets = self.rotate_secrets(sealed_secret, patch.overlap_seconds, at);
        }
        if let Some(url) = patch.url {
            let target_result = verdict.unwrap_or(Verdict::Unresolvable).check();
            target_result.map_err(|flaw| DomainError::unprocessable("url", flaw))?;
            url.as_str().clone_into(&mut state.url);
        }
        state.active = patch.active.unwrap_or(state.active);
        patch.content.apply_to(&mut state);
        if let Some(filter) = patch.filter {
            state.filter = filter;
        }
        let destination = |webhook: &Self| {
            (webhook.url.clone(), webhook.event_types.clone(), webhook.payload, webhook.filter.clone())
        };
        if destination(&state) != destination(self) {
            self.check_access(caller)?;
            let needed_form = read_form(state.payload, state.filter.is_some());
            state.effective_event_types = state.event_types.granted_to(caller, needed_form)?;
            may_filter(caller, state.filter.as_ref())?;
            state.keeps_all_types = false;
        }
        state.headers = self.headers.apply_patch(headers);
        if state.active && !self.active {
            // Failures from before the pause must not disable the subscription at its first failure after the
            // pause.
            state.streak = Streak::default();
        }
        let headers_differ = state.headers != self.headers;
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let mut decision = Decision::for_change(self, state, action, vec![]);
        if headers_differ && !decision.audit.changes.contains_key("headers") {
            // The masked values are equal, but a value changed.
            decision.audit.changes.insert("headers".into(), Change::new(&self.headers, &self.headers));
        }
        if let Some(change) = decision.audit.changes.get_mut("url") {
            *change = Change::new(&without_path(&self.url), &without_path(&decision.state.url));
        }
        Ok(Some(decision))
    }

    /// Replaces the sealed secrets and headers by newly sealed ones. Clients see no change, so `updated_at` stays.
    pub fn with_resealed_secrets(&self, secrets: Vec<SealedSecret>, headers: CustomHeaders) -> Decision<Self> {
        Decision::for_change(self, Self { secrets, headers, ..self.clone() }, "webhook.rekey", vec![])
    }

    /// Returns the audit entry of a deletion.
    #[must_use]
    pub fn deletion_audit(&self) -> AuditDraft {
        let changes = self.member_changes(|value| Change::new(&value, &()));
        AuditDraft { changes, ..AuditDraft::new(self, "webhook.delete") }
    }

    /// Returns the secrets after a rotation.
    ///
    /// Without `overlap_seconds` the secret that was the newest signs for 24 more hours, and older secrets keep
    /// their ends. With `overlap_seconds`, no earlier secret signs for longer than this time, so that one request
    /// can end a leaked secret. Above [`MAX_SECRETS`] the oldest secrets are dropped: a refusal would let any
    /// client with `webhooks:write` block the owner's rotation.
    fn rotate_secrets(&self, sealed: Vec<u8>, overlap_seconds: Option<i64>, at: Timestamp) -> Vec<SealedSecret> {
        let default_end = at.plus_seconds(ROTATION_OVERLAP_SECONDS);
        let latest_end = overlap_seconds.map(|seconds| at.plus_seconds(seconds));
        let end = |secret: &SealedSecret| match latest_end {
            Some(latest) => secret.ends_at.map_or(latest, |own| own.min(latest)),
            None => secret.ends_at.unwrap_or(default_end),
        };
        let mut secrets: Vec<_> = self
            .secrets
            .iter()
            .map(|secret| SealedSecret { ends_at: Some(end(secret)), ..secret.clone() })
            .filter(|secret| secret.ends_at.is_some_and(|end| at < end))
            .collect();
        secrets.drain(..secrets.len().saturating_sub(MAX_SECRETS - 1));
        secrets.push(SealedSecret { sealed, ends_at: None });
        secrets
    }

    /// Returns `true` if the change to `after` makes the subscription active, which resets its separately stored
    /// streak.
    #[must_use]
    pub const fn resets_streak(&self, after: &Self) -> bool {
        after.active && !self.active
    }
}

//! Tests of subscriptions: creation, update and rotation.

use candor_domain::access::AccessLevel::Admin;
use candor_domain::json::{Object, Value};
use candor_domain::page::Sort;
use candor_domain::problem::{Code, ValidationErrors};
use candor_domain::receiver_url::Verdict;
use candor_domain::refusal::DomainError;
use ulid::Ulid;

use super::*;
use candor_test_fixtures::unbound;

pub(super) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

pub(super) fn object(body: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("not an object: {body}") };
    members
}

pub(super) fn codes<T>(result: Result<T, ValidationErrors>) -> Vec<(String, Code)> {
    let problems = result.err().unwrap_or_default();
    problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
}

pub(super) fn subscription() -> Subscription {
    let draft = Draft::parse(object(r#"{"url":"https://example.com/","event_types":["objective.created","*"]}"#));
    let id = WebhookId::from_ulid(Ulid(1));
    Subscription::create(
        id,
        &unbound(Admin),
        draft.unwrap(),
        Verdict::Allowed,
        vec![1],
        SealedHeaderPatch::new(),
        NOON,
    )
    .unwrap()
    .state
}

fn patched(stored: &Subscription, body: &str, at: Timestamp) -> Option<Subscription> {
    let patch = Patch::resolve(&Patch::parse(object(body)), stored).unwrap();
    let sealed_secret = patch.rotate_secret.then(|| vec![u8::try_from(stored.secrets.len()).unwrap() + 1]);
    stored
        .update(&unbound(Admin), patch, Some(Verdict::Allowed), sealed_secret, SealedHeaderPatch::new(), at)
        .unwrap()
        .map(|decision| decision.state)
}

#[test]
fn subscription_shows_its_secret_only_on_creation() {
    let original = subscription();
    let expected_json = r#"{"id":"whk_00000000000000000000000001","url":"https://example.com/","event_types":["objective.created","*"],"effective_event_types":["objective.created","*"],"active":true,"description":null,"payload":"full","headers":{},"filter":null,"max_per_second":null,"last_delivery_at":null,"last_delivery_status":null,"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z"}"#;
    assert_eq!(serde_json::to_string(&original).unwrap(), expected_json);
    let secret = Secret::new("whsec_x".to_owned());
    let mut with: serde_json::Value = serde_json::from_str(expected_json).unwrap();
    with["secret"] = "whsec_x".into();
    assert_eq!(serde_json::to_value(original.with_secret(&secret)).unwrap(), with);
    let patched_one = original.after_delivery(Status::Dropped, NOON);
    assert_eq!(serde_json::to_value(&patched_one).unwrap()["last_delivery_status"], "dropped");
}

#[test]
fn invalid_field_of_a_creation_is_reported() {
    let good = r#""url":"https://example.com/","event_types":["*"]"#;
    let long = format!(r#"{{{good},"description":"{}"}}"#, "é".repeat(201));
    let many = format!(r#"{{"url":"https://example.com/","event_types":[{}"*"]}}"#, r#""*","#.repeat(MAX_TOPICS));
    let table = [
        (r#"{}"#.to_owned(), vec![("url", Code::Required), ("event_types", Code::Required)]),
        (
            r#"{"url":null,"event_types":null}"#.into(),
            vec![("url", Code::Required), ("event_types", Code::Required)],
        ),
        (r#"{"url":1,"event_types":["*"]}"#.into(), vec![("url", Code::InvalidFormat)]),
        (r#"{"url":"","event_types":["*"]}"#.into(), vec![("url", Code::InvalidFormat)]),
        (r#"{"url":"example.com","event_types":["*"]}"#.into(), vec![("url", Code::InvalidFormat)]),
        (r#"{"url":"https://a:b@example.com/","event_types":["*"]}"#.into(), vec![("url", Code::InvalidFormat)]),
        (r#"{"url":"https://example.com/","event_types":[]}"#.into(), vec![("event_types", Code::TooShort)]),
        (r#"{"url":"https://example.com/","event_types":["x"]}"#.into(), vec![("event_types", Code::InvalidEnum)]),
        (r#"{"url":"https://example.com/","event_types":"*"}"#.into(), vec![("event_types", Code::InvalidFormat)]),
        (r#"{"url":"https://example.com/","event_types":[1]}"#.into(), vec![("event_types", Code::InvalidFormat)]),
        (many, vec![("event_types", Code::TooLong)]),
        (long, vec![("description", Code::TooLong)]),
        (format!(r#"{{{good},"description":1}}"#), vec![("description", Code::InvalidFormat)]),
        (format!(r#"{{{good},"secret":"whsec_x"}}"#), vec![("secret", Code::ReadOnly)]),
        (format!(r#"{{{good},"last_delivery_at":null}}"#), vec![("last_delivery_at", Code::ReadOnly)]),
        (format!(r#"{{{good},"active":true}}"#), vec![("active", Code::UnknownField)]),
        (format!(r#"{{{good},"rotate_secret":true}}"#), vec![("rotate_secret", Code::UnknownField)]),
    ];
    for (body, wanted) in table {
        let expected_codes: Vec<_> = wanted.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
        assert_eq!(codes(Draft::parse(object(&body))), expected_codes, "{body}");
    }
    for description in [String::new(), "é".repeat(200)] {
        let body = format!(r#"{{{good},"description":"{description}"}}"#);
        assert_eq!(Draft::parse(object(&body)).unwrap().content.description, Some(description));
    }
}

#[test]
fn url_that_must_not_be_called_is_unprocessable() {
    let original = subscription();
    for verdict in [Verdict::NotHttps, Verdict::Private, Verdict::Unresolvable] {
        let problems_of = |refusal: DomainError| {
            let DomainError::Unprocessable(problems) = refusal else { panic!("{refusal:?}") };
            codes::<()>(Err(problems))
        };
        let code = verdict.check().unwrap_err().code;
        let draft = Draft::parse(object(r#"{"url":"http://example.com/","event_types":["*"]}"#)).unwrap();
        let creation = Subscription::create(
            original.id,
            &unbound(Admin),
            draft,
            verdict,
            vec![],
            SealedHeaderPatch::new(),
            NOON,
        );
        assert_eq!(problems_of(creation.unwrap_err()), [("url".to_owned(), code)]);
        let patch = Patch::resolve(&Patch::parse(object(r#"{"url":"https://b.example/"}"#)), &original).unwrap();
        let update_result =
            original.update(&unbound(Admin), patch.clone(), Some(verdict), None, SealedHeaderPatch::new(), NOON);
        assert_eq!(problems_of(update_result.unwrap_err()), [("url".to_owned(), code)]);
        assert!(
            original.update(&unbound(Admin), patch, None, None, SealedHeaderPatch::new(), NOON).is_err(),
            "never without a verdict"
        );
    }
}

#[test]
fn subscription_sent_back_as_read_changes_nothing() {
    let original = subscription().after_delivery(Status::Success, NOON);
    let body = serde_json::to_string(&original).unwrap();
    let patch = Patch::resolve(&Patch::parse(object(&body)), &original).unwrap();
    assert_eq!(patch.url, None, "an unchanged URL is not judged again");
    assert_eq!(original.update(&unbound(Admin), patch, None, None, SealedHeaderPatch::new(), NOON), Ok(None));
    assert_eq!(patched(&original, "{}", NOON), None);
    assert_eq!(patched(&original, r#"{"rotate_secret":false}"#, NOON), None);
}

#[test]
fn invalid_field_of_an_update_is_reported() {
    let original = subscription();
    let table = [
        (r#"{"url":null}"#, "url", Code::Required),
        (r#"{"url":"x"}"#, "url", Code::InvalidFormat),
        (r#"{"event_types":[]}"#, "event_types", Code::TooShort),
        (r#"{"active":null}"#, "active", Code::Required),
        (r#"{"active":"true"}"#, "active", Code::InvalidFormat),
        (r#"{"rotate_secret":null}"#, "rotate_secret", Code::Required),
        (r#"{"rotate_secret":1}"#, "rotate_secret", Code::InvalidFormat),
        (r#"{"overlap_seconds":60}"#, "rotate_secret", Code::Required),
        (r#"{"rotate_secret":false,"overlap_seconds":60}"#, "rotate_secret", Code::Required),
        (r#"{"rotate_secret":true,"overlap_seconds":-1}"#, "overlap_seconds", Code::OutOfRange),
        (r#"{"rotate_secret":true,"overlap_seconds":604801}"#, "overlap_seconds", Code::OutOfRange),
        (r#"{"rotate_secret":true,"overlap_seconds":null}"#, "overlap_seconds", Code::Required),
        (r#"{"rotate_secret":true,"overlap_seconds":"60"}"#, "overlap_seconds", Code::InvalidFormat),
        (r#"{"secret":"whsec_x"}"#, "secret", Code::ReadOnly),
        (r#"{"id":"whk_00000000000000000000000002"}"#, "id", Code::ReadOnly),
        (r#"{"last_delivery_status":"success"}"#, "last_delivery_status", Code::ReadOnly),
        (r#"{"colour":"red"}"#, "colour", Code::UnknownField),
    ];
    for (body, field, code) in table {
        let problems = codes(Patch::resolve(&Patch::parse(object(body)), &original));
        assert_eq!(problems, [(field.to_owned(), code)], "{body}");
    }
}

#[test]
fn update_changes_only_the_given_fields() {
    let body = r#"{"url":"https://example.com/other","event_types":["test.ping","test.ping"],"active":false,"description":"x"}"#;
    let patched_one = patched(&subscription(), body, NOON).unwrap();
    let expected_one = Subscription {
        url: "https://example.com/other".to_owned(),
        event_types: Topics::from_words(["test.ping"]).unwrap(),
        effective_event_types: Topics::from_words(["test.ping"]).unwrap(),
        active: false,
        description: Some("x".to_owned()),
        updated_at: Timestamp::from_millis(NOON.millis() + 1),
        ..subscription()
    };
    assert_eq!(patched_one, expected_one);
    assert_eq!(patched(&patched_one, r#"{"description":null}"#, NOON).unwrap().description, None);
}

#[test]
fn update_replaces_or_removes_the_whole_filter() {
    let filter_json = |stored: &Subscription| serde_json::to_value(&stored.filter).unwrap();
    let with_filter = patched(&subscription(), r#"{"filter":{"type":"strength","scope":["org"]}}"#, NOON).unwrap();
    let both =
        serde_json::json!({"employee_id": null, "department_id": null, "type": "strength", "scope": ["org"]});
    assert_eq!(filter_json(&with_filter), both);
    assert_eq!(patched(&with_filter, &format!(r#"{{"filter":{both}}}"#), NOON), None, "sent back as it was shown");
    let with_other_filter = patched(&with_filter, r#"{"filter":{"type":"opportunity"}}"#, NOON).unwrap();
    let filter = filter_json(&with_other_filter);
    assert_eq!((filter["type"].as_str(), filter["scope"].as_array()), (Some("opportunity"), None));
    for none in ["null", "{}", r#"{"type":null}"#] {
        let without_filter = patched(&with_filter, &format!(r#"{{"filter":{none}}}"#), NOON).unwrap();
        assert_eq!(without_filter.filter, None, "{none}");
    }
    assert_eq!(patched(&with_filter, r#"{"description":"x"}"#, NOON).unwrap().filter, with_filter.filter);
    let wrong = Patch::resolve(&Patch::parse(object(r#"{"filter":{"employee_id":[],"x":1}}"#)), &with_filter);
    let expected_codes = [("filter.employee_id", Code::TooShort), ("filter.x", Code::UnknownField)];
    assert_eq!(codes(wrong), expected_codes.map(|(field, code)| (field.to_owned(), code)));
    let wrong = Patch::resolve(&Patch::parse(object(r#"{"filter":["strength"]}"#)), &with_filter);
    assert_eq!(codes(wrong), [("filter".to_owned(), Code::InvalidFormat)]);
}

#[test]
fn rotated_secrets_sign_until_their_ends_oldest_first() {
    let rotate = r#"{"rotate_secret":true}"#;
    let hour = |number: i64| NOON.plus_seconds(number * 3_600);
    let first = patched(&subscription(), rotate, hour(0)).unwrap();
    let second = patched(&first, rotate, hour(10)).unwrap();
    let signing =
        |stored: &Subscription, at| stored.signing_secrets(at).map(|secret| secret.sealed[0]).collect::<Vec<_>>();
    let previous_millisecond = |time: Timestamp| Timestamp::from_millis(time.millis() - 1);
    let table = [
        (hour(10), vec![1, 2, 3]),
        (previous_millisecond(hour(24)), vec![1, 2, 3]),
        (hour(24), vec![2, 3]),
        (previous_millisecond(hour(34)), vec![2, 3]),
        (hour(34), vec![3]),
        (hour(10_000), vec![3]),
    ];
    for (at, wanted) in table {
        assert_eq!(signing(&second, at), wanted, "{at}");
    }
    let third = patched(&second, rotate, hour(30)).unwrap();
    assert_eq!(third.secrets.len(), 3, "ended secrets are dropped: {:?}", third.secrets);
}

#[test]
fn overlap_seconds_bounds_the_end_of_every_earlier_secret() {
    let day = NOON.plus_seconds(86_400);
    let original = patched(&subscription(), r#"{"rotate_secret":true}"#, NOON).unwrap();
    let rotate_with = |overlap: i64| {
        let body = format!(r#"{{"rotate_secret":true,"overlap_seconds":{overlap}}}"#);
        let secrets = patched(&original, &body, NOON).unwrap().secrets;
        secrets.into_iter().map(|secret| (secret.sealed[0], secret.ends_at)).collect::<Vec<_>>()
    };
    let table = [
        (0, vec![(3, None)]),
        (60, vec![(1, Some(NOON.plus_seconds(60))), (2, Some(NOON.plus_seconds(60))), (3, None)]),
        (604_800, vec![(1, Some(day)), (2, Some(NOON.plus_seconds(604_800))), (3, None)]),
    ];
    for (overlap, wanted) in table {
        assert_eq!(rotate_with(overlap), wanted, "{overlap}");
    }
}

#[test]
fn rotation_at_the_cap_drops_the_oldest_secret() {
    let mut original = subscription();
    for number in 2..=40 {
        let patch = Patch { rotate_secret: true, ..Patch::default() };
        original = original
            .update(&unbound(Admin), patch, None, Some(vec![number]), SealedHeaderPatch::new(), NOON)
            .unwrap()
            .unwrap()
            .state;
    }
    let secrets: Vec<u8> = original.secrets.iter().map(|secret| secret.sealed[0]).collect();
    assert_eq!(secrets, (9..=40).collect::<Vec<_>>());
}

#[test]
fn reactivated_subscription_has_no_failures() {
    let failing = Streak { failures: 50, since: Some(NOON), is_failing: true };
    let day = NOON.plus_seconds(86_400);
    let failing_subscription = Subscription { streak: failing, ..subscription() };
    assert!(failing_subscription.wants(EventType::TestPing));
    let why = DisableReason::Failing;
    assert_eq!(failing_subscription.disable(&why, Timestamp::from_millis(day.millis() - 1)), None);
    let disabled_subscription = failing_subscription.disable(&why, day).unwrap().state;
    assert_eq!((disabled_subscription.active, disabled_subscription.streak), (false, failing));
    assert!(!disabled_subscription.wants(EventType::TestPing));
    assert_eq!(disabled_subscription.disable(&why, day), None, "only once");
    let active = patched(&disabled_subscription, r#"{"active":true}"#, day).unwrap();
    assert_eq!((active.active, active.streak), (true, Streak::default()));
    assert_eq!(patched(&failing_subscription, r#"{"active":true}"#, day), None, "an active one keeps its count");
}

#[test]
fn older_attempt_does_not_replace_a_newer_one() {
    let newer = subscription().after_delivery(Status::Success, NOON.plus_seconds(1));
    assert_eq!(newer.after_delivery(Status::Failed, NOON), newer);
    assert_eq!(newer.updated_at, NOON);
}

#[test]
fn subscriptions_are_listed_newest_first_by_default() {
    let parse = |pairs: Vec<(String, String)>| Params::new(pairs).parse(Filter::read).map(|request| request.sort);
    assert_eq!(parse(vec![]), Ok(Sort::descending_by(SortBy::CreatedAt)));
    let by_change = vec![("sort".to_owned(), "updated_at".to_owned())];
    assert_eq!(parse(by_change), Ok(Sort::ascending_by(SortBy::UpdatedAt)));
    assert!(parse(vec![("filter[active]".to_owned(), "true".to_owned())]).is_err());
    let recent_subscription = Subscription { updated_at: NOON.plus_seconds(1), ..subscription() };
    let keys = [SortBy::CreatedAt, SortBy::UpdatedAt, SortBy::Name].map(|by| recent_subscription.key(by));
    assert_eq!(keys, [Some(Key::Time(NOON)), Some(Key::Time(recent_subscription.updated_at)), None]);
}

#[test]
fn audit_log_shows_only_the_host_of_a_url() {
    let table = [
        (
            "https://example.com:8443",
            "https://other.example/T0/B0/secret",
            "https://example.com:8443",
            "https://other.example/…",
        ),
        (
            "https://example.com/?token=secret",
            "https://EXAMPLE.com:443/",
            "https://example.com/…",
            "https://example.com",
        ),
        (
            "https://[2001:db8::1]/#secret",
            "http://bücher.example/a",
            "https://[2001:db8::1]/…",
            "http://xn--bcher-kva.example/…",
        ),
        // Shows that the part after the host has changed, without either value.
        (
            "https://example.com/secret",
            "https://example.com/other",
            "https://example.com/…",
            "https://example.com/…",
        ),
    ];
    for (from, to, shown_from, shown_to) in table {
        let original = Subscription { url: from.to_owned(), ..subscription() };
        let patch = Patch::resolve(&Patch::parse(object(&format!(r#"{{"url":"{to}"}}"#))), &original).unwrap();
        let decision = original
            .update(&unbound(Admin), patch, Some(Verdict::Allowed), None, SealedHeaderPatch::new(), NOON)
            .unwrap()
            .unwrap();
        assert_eq!(decision.state.url, to);
        let change_text = serde_json::to_value(&decision.audit.changes).unwrap();
        assert_eq!(change_text, serde_json::json!({"url": {"from": shown_from, "to": shown_to}}));
    }
    let original = subscription();
    let rotation = Patch { rotate_secret: true, ..Patch::default() };
    let rotation_decision = original
        .update(&unbound(Admin), rotation, None, Some(vec![7]), SealedHeaderPatch::new(), NOON)
        .unwrap()
        .unwrap();
    assert_eq!((rotation_decision.audit.action, rotation_decision.audit.changes.len()), ("webhook.rotate", 0));
    let changes = serde_json::to_value(&original.deletion_audit().changes).unwrap();
    assert_eq!(changes["event_types"], serde_json::json!({"from": original.event_types, "to": null}));
}

#[test]
fn each_newest_result_has_its_own_mark() {
    let original = subscription();
    let marks = [
        original.mark(),
        original.after_delivery(Status::Success, NOON).mark(),
        original.after_delivery(Status::Failed, NOON).mark(),
        original.after_delivery(Status::Dropped, NOON).mark(),
        original.after_delivery(Status::Success, NOON.plus_seconds(1)).mark(),
    ];
    assert_eq!(marks[0], 0);
    let distinct: std::collections::BTreeSet<_> = marks.into_iter().collect();
    assert_eq!(distinct.len(), marks.len(), "{marks:?}");
}

#[test]
fn other_destination_needs_new_headers_and_a_new_secret() {
    let masked_value = custom_headers::mask_value(&Secret::new("secret-of-the-receiver".to_owned()));
    let masked_header = format!(r#","headers":{{"Authorization":"{masked_value}"}}"#);
    let header = SealedHeader { masked: masked_value, sealed: vec![1] };
    let mut original = subscription();
    original.headers = CustomHeaders([("authorization".to_owned(), header)].into());
    let patch = |body: &str| Patch::resolve(&Patch::parse(object(body)), &original);
    for url in ["https://example.com/other?x=1", "https://EXAMPLE.com:443/"] {
        let patch = patch(&format!(r#"{{"url":"{url}"}}"#)).unwrap();
        assert!(!patch.rotate_secret, "{url}");
    }
    for url in
        ["http://example.com/", "https://example.com:444/", "https://example.org/", "https://a.example.com/"]
    {
        for headers in ["", r#","headers":{}"#, &masked_header, r#","headers":{"x":"y"}"#] {
            let problems = patch(&format!(r#"{{"url":"{url}"{headers}}}"#)).unwrap_err();
            let problem = &problems.as_slice()[0];
            assert_eq!((problem.field.as_str(), problem.code), ("headers.authorization", Code::Required), "{url}");
        }
        for headers in [r#"{"authorization":"new"}"#, r#"{"AUTHORIZATION":null}"#] {
            let moved_patch = patch(&format!(r#"{{"url":"{url}","headers":{headers}}}"#)).unwrap();
            assert_eq!((moved_patch.rotate_secret, moved_patch.overlap_seconds), (true, Some(0)), "{url}");
            let patch_with_rotation = patch(&format!(
                r#"{{"url":"{url}","headers":{headers},"rotate_secret":true,"overlap_seconds":600}}"#
            ));
            assert_eq!(patch_with_rotation.unwrap().overlap_seconds, Some(0), "{url}");
        }
    }
}

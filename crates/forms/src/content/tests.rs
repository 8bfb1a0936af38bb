#![expect(unreachable_pub, reason = "the macro declares public structs")]

use super::*;
use crate::json::Value;
use crate::problem::{Code, ValidationErrors};
use crate::rule;

content! {
    pub struct Draft;
    pub struct Patch;

    /// A resource with each kind of member.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Note {
        pub id: u8,
        pub kind: String => set once by required(rule::text(1..=5)).with_name("type"),
        pub title: String => set by required(rule::text(1..=5)),
        pub remark: Option<String> => set by optional(rule::text(0..=5)),
        pub text: String => set by or_default(rule::text(0..=5)),
        pub is_open: bool => set by or(rule::flag(), true).about("It can be closed."),
    }
}

fn fields(body: &str) -> Fields {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(body) else { panic!("{body}") };
    Fields::new(members)
}

fn created(body: &str) -> Result<Draft, ValidationErrors> {
    let mut fields = fields(body);
    let draft = Draft::read(&mut fields);
    fields.finish(draft)
}

fn note() -> Note {
    let Draft { kind, title, remark, text, is_open } =
        created(r#"{"type":"a","title":"b","remark":"c","text":"d","is_open":false}"#).unwrap();
    Note { id: 1, kind, title, remark, text, is_open }
}

#[test]
fn absent_member_of_a_creation_has_its_default() {
    let draft = created(r#"{"type":"a","title":"b"}"#).unwrap();
    let expected_draft =
        Draft { kind: "a".to_owned(), title: "b".to_owned(), remark: None, text: String::new(), is_open: true };
    assert_eq!(draft, expected_draft);
}

#[test]
fn every_wrong_member_of_a_creation_is_reported() {
    let problems = created(r#"{"kind":"a","title":"too long","remark":null,"text":null}"#).unwrap_err();
    let codes: Vec<_> = problems.as_slice().iter().map(|one| (one.field.as_str(), one.code)).collect();
    let expected_codes = [
        ("type", Code::Required),
        ("title", Code::TooLong),
        ("text", Code::Required),
        ("kind", Code::UnknownField),
    ];
    assert_eq!(codes, expected_codes);
}

#[test]
fn absent_member_of_an_update_keeps_its_value() {
    let patch = |body: &str| {
        let mut fields = fields(body);
        let patch = Patch::read(&mut fields);
        fields.finish(Some(patch)).unwrap()
    };
    let mut state = note();
    patch("{}").apply_to(&mut state);
    assert_eq!(state, note());
    patch(r#"{"remark":null,"text":"e","is_open":true}"#).apply_to(&mut state);
    assert_eq!(state, Note { remark: None, text: "e".to_owned(), is_open: true, ..note() });
}

#[test]
fn description_follows_from_the_declaration() {
    let descriptions = Fields::describe_fields(Draft::read);
    let names: Vec<_> =
        descriptions.iter().map(|field| (field.name, field.is_required, field.is_nullable)).collect();
    let expected_fields = [
        ("type", true, false),
        ("title", true, false),
        ("remark", false, true),
        ("text", false, false),
        ("is_open", false, false),
    ];
    assert_eq!(names, expected_fields);
    assert_eq!((descriptions[4].about, descriptions[4].default.as_deref()), ("It can be closed.", Some("true")));
    let patch_fields: Vec<_> = Fields::describe_fields(Patch::read).iter().map(|field| field.name).collect();
    assert_eq!(patch_fields, ["title", "remark", "text", "is_open"]);
}

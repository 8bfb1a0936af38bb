use super::*;
use crate::people::{Custom, CustomFields};

fn parse_text<M: KeyedMap>(text: &str) -> Result<KeyedPatch<M::Value>, Vec<(String, Code)>> {
    parse::<M>(&serde_json::from_str(text).unwrap()).map_err(|problems| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    })
}

/// Checks the bounds of keys and values, for custom fields or for metadata.
fn key_and_value_are_bounded<M: KeyedMap>() {
    let KeyedLimits { key_chars, value_chars, .. } = M::LIMITS;
    let (key, value, name) = ("k".repeat(key_chars), "é".repeat(value_chars), M::NAME);
    assert!(parse_text::<M>(&format!(r#"{{"{key}":"{value}"}}"#)).is_ok());
    for (body, field, code) in [
        (format!(r#"{{"{key}k":"x"}}"#), format!("{name}.{key}k"), Code::TooLong),
        (format!(r#"{{"k":"{value}é"}}"#), format!("{name}.k"), Code::TooLong),
        (r#"{"":"x"}"#.to_owned(), format!("{name}."), Code::TooShort),
        (r#"{"k":["x"]}"#.to_owned(), format!("{name}.k"), Code::InvalidFormat),
        (r#"{"k":{"a":"x"}}"#.to_owned(), format!("{name}.k"), Code::InvalidFormat),
        (r#"{"k":"x","k":"y"}"#.to_owned(), format!("{name}.k"), Code::InvalidFormat),
        (r#"{"k":"\u0000"}"#.to_owned(), format!("{name}.k"), Code::InvalidFormat),
        ("[]".to_owned(), name.to_owned(), Code::InvalidFormat),
    ] {
        assert_eq!(parse_text::<M>(&body).err(), Some(vec![(field, code)]), "{body:.40}");
    }
}

#[test]
fn too_long_or_nested_value_is_refused() {
    key_and_value_are_bounded::<CustomFields>();
    key_and_value_are_bounded::<Metadata>();
}

#[test]
fn metadata_value_other_than_a_text_is_refused() {
    for body in [r#"{"k":1}"#, r#"{"k":true}"#] {
        let error = parse_text::<Metadata>(body).unwrap_err();
        assert_eq!(error, [("metadata.k".to_owned(), Code::InvalidFormat)], "{body}");
    }
    assert!(parse_text::<Metadata>(r#"{"k":"","l":null}"#).is_ok());
}

#[test]
fn patch_is_merged_per_key_and_null_removes_a_key() {
    let fields =
        CustomFields([("a".to_owned(), Custom::Flag(true)), ("b".to_owned(), Custom::Number(1.into()))].into());
    let merged_fields =
        fields.apply_patch(&parse_text::<CustomFields>(r#"{"a":null,"c":"x","absent":null}"#).unwrap());
    assert_eq!(serde_json::to_string(&merged_fields).unwrap(), r#"{"b":1,"c":"x"}"#);
    let metadata_before = Metadata([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())].into());
    let merged_metadata =
        metadata_before.apply_patch(&parse_text::<Metadata>(r#"{"a":null,"c":"x","absent":null}"#).unwrap());
    assert_eq!(serde_json::to_string(&merged_metadata).unwrap(), r#"{"b":"2","c":"x"}"#);
}

#[test]
fn number_of_keys_is_bounded_after_the_merge() {
    let fields = |n: usize| CustomFields((0..n).map(|number| (number.to_string(), Custom::Flag(true))).collect());
    assert_eq!(fields(32).check_key_count(), Ok(()));
    assert_eq!(fields(33).check_key_count().unwrap_err().code, Code::TooLong);
    let metadata = |n: usize| Metadata((0..n).map(|number| (number.to_string(), String::new())).collect());
    assert_eq!(metadata(20).check_key_count(), Ok(()));
    assert_eq!(metadata(21).check_key_count().unwrap_err().code, Code::TooLong);
    let merge_result = |body: &str| {
        let mut fields = Fields::new(serde_json::from_str("{}").unwrap());
        check_merged(&metadata(20), &parse_text::<Metadata>(body).unwrap(), &mut fields);
        fields.finish(Some(())).is_ok()
    };
    assert!(merge_result(r#"{"0":null,"new":"x"}"#), "one key replaces another");
    assert!(!merge_result(r#"{"new":"x"}"#));
}

#[test]
fn request_may_replace_every_key_and_name_no_more() {
    let body = |keys: usize| {
        let members: Vec<_> = (0..keys).map(|number| format!(r#""{number}":null"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(parse_text::<Metadata>(&body(40)).is_ok());
    for keys in [41, 42] {
        let error = parse_text::<Metadata>(&body(keys)).unwrap_err();
        assert_eq!(error, [("metadata".to_owned(), Code::TooLong)], "{keys}");
    }
    assert!(check_key::<Metadata>("").unwrap_err().message.starts_with("the key "));
}

#[test]
fn digest_depends_on_the_border_of_key_and_value() {
    assert_ne!(digest("ab", "c"), digest("a", "bc"));
    let number = CustomFields([("a".to_owned(), Custom::Number(42.into()))].into());
    assert_eq!(number.digests(), [digest("a", "42")]);
    assert_eq!(Metadata([("a".to_owned(), "42".to_owned())].into()).digests(), [digest("a", "42")]);
}

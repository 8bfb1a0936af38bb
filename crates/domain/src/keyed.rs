//! Maps of short values by keys that clients choose: custom fields of people and metadata of other resources
//! (§2.1, §2.3, decisions A8, D7, D11).
//!
//! All of them have the same rules. A body is merged key by key, null removes a key, and the bounds apply to the
//! result. A list finds the rows with a value by its digest.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Fields;
use crate::json::Value;
use crate::params::Params;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{Field, Rule, Shape};
use crate::text::check_length;

/// Maximum number of keys of the metadata of one resource.
pub const MAX_METADATA_KEYS: usize = 20;
/// Length of the longest key of metadata, in characters.
pub const METADATA_KEY_CHARS: usize = 40;
/// Length of the longest value of metadata, in characters.
pub const METADATA_VALUE_CHARS: usize = 500;

/// Bounds of a map by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyedLimits {
    /// Maximum number of keys.
    pub keys: usize,
    /// Maximum length of a key, in characters.
    pub key_chars: usize,
    /// Maximum length of a text, in characters.
    pub value_chars: usize,
}

/// A value of a map by key.
pub trait KeyedValue: Clone {
    /// Returns the text that a filter is compared with (decision D7).
    fn canonical(&self) -> Cow<'_, str>;

    /// Parses a value other than null. A text has at most `max_chars` characters.
    ///
    /// # Errors
    /// The problem of the value, without its field.
    fn parse(value: &Value, max_chars: usize) -> Result<Self, ValueError>;

    /// Returns the shape of a map with values of this type, for the OpenAPI document.
    fn shape(limits: KeyedLimits) -> Shape;
}

impl KeyedValue for String {
    fn canonical(&self) -> Cow<'_, str> {
        self.into()
    }

    fn parse(value: &Value, max_chars: usize) -> Result<Self, ValueError> {
        match value {
            Value::Text(text) => check_length(text, 0..=max_chars).map(|()| text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Object(_) => {
                Err(ValueError::format(format!("a string, not {}", value.kind())))
            }
        }
    }

    fn shape(limits: KeyedLimits) -> Shape {
        Shape::TextMap { max: limits.keys, key_chars: limits.key_chars, value_chars: limits.value_chars }
    }
}

/// Changes of a map by key: a value sets the key, `None` removes it.
pub type KeyedPatch<V> = BTreeMap<String, Option<V>>;

/// A member that is a map by key.
pub trait KeyedMap: Default {
    /// Type of the values.
    type Value: KeyedValue;
    /// Name of the member in bodies and filters.
    const NAME: &'static str;
    /// Bounds of the map.
    const LIMITS: KeyedLimits;

    /// Creates the map from its entries.
    fn from_entries(entries: BTreeMap<String, Self::Value>) -> Self;

    /// Returns the entries, ordered by key.
    fn entries(&self) -> &BTreeMap<String, Self::Value>;

    /// Returns the map with a patch applied.
    #[must_use]
    fn apply_patch(&self, patch: &KeyedPatch<Self::Value>) -> Self {
        let mut entries = self.entries().clone();
        for (key, value) in patch {
            match value {
                Some(value) => entries.insert(key.clone(), value.clone()),
                None => entries.remove(key),
            };
        }
        Self::from_entries(entries)
    }

    /// Checks the number of keys.
    ///
    /// # Errors
    /// `too_long` for more keys than [`KeyedMap::LIMITS`] allows.
    fn check_key_count(&self) -> Result<(), ValueError> {
        let KeyedLimits { keys, .. } = Self::LIMITS;
        if self.entries().len() <= keys {
            return Ok(());
        }
        Err(ValueError::new(Code::TooLong, format!("must have at most {keys} keys")))
    }

    /// Returns a digest per key, by which rows with a certain value are found. Values are too long for an index,
    /// and a digest does not disclose them.
    #[must_use]
    fn digests(&self) -> Vec<[u8; 16]> {
        self.filters().into_iter().map(|filter| filter.digest).collect()
    }

    /// Returns a filter for each entry. Maps that contain all of these entries pass all filters.
    #[must_use]
    fn filters(&self) -> Vec<ValueFilter> {
        let filter = |(key, value): (&String, &Self::Value)| ValueFilter {
            key: key.clone(),
            digest: digest(key, &value.canonical()),
        };
        self.entries().iter().map(filter).collect()
    }
}

/// Notes for other systems about a resource: texts by key. They have no meaning for the service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Metadata(pub BTreeMap<String, String>);

/// Changes of metadata by key.
pub type MetadataPatch = KeyedPatch<String>;

impl KeyedMap for Metadata {
    type Value = String;

    const NAME: &'static str = "metadata";
    const LIMITS: KeyedLimits =
        KeyedLimits { keys: MAX_METADATA_KEYS, key_chars: METADATA_KEY_CHARS, value_chars: METADATA_VALUE_CHARS };

    fn from_entries(entries: BTreeMap<String, String>) -> Self {
        Self(entries)
    }

    fn entries(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// Returns the digest of a key and the canonical text of its value.
#[must_use]
pub(crate) fn digest(key: &str, value: &str) -> [u8; 16] {
    let digest = ring::digest::digest(&ring::digest::SHA256, format!("{}\0{key}{value}", key.len()).as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest.as_ref()[..16]);
    first
}

/// Checks a key of the map.
///
/// # Errors
/// `too_short`, `too_long`, or `invalid_format` for a control character.
pub fn check_key<M: KeyedMap>(key: &str) -> Result<(), ValueError> {
    check_length(key, 1..=M::LIMITS.key_chars)
        .map_err(|flaw| ValueError { message: format!("the key {}", flaw.message), ..flaw })
}

/// The rule for the member of a body that is a map by key. Problems name the key.
struct KeyedRule<M>(PhantomData<fn() -> M>);

impl<M: KeyedMap> Rule for KeyedRule<M> {
    type Value = Result<KeyedPatch<M::Value>, ValidationErrors>;

    fn parse(&self, value: &Value) -> Result<Self::Value, ValueError> {
        Ok(parse::<M>(value))
    }

    fn shape(&self) -> Shape {
        M::Value::shape(M::LIMITS)
    }
}

/// Reads the map of a creation. Without the member it is empty.
pub(crate) fn read_new<M: KeyedMap>(fields: &mut Fields) -> M {
    let map = M::default().apply_patch(&read::<M>(fields, "A key with the value null is ignored."));
    check(&map, fields);
    map
}

/// Reads the changes of the map in an update. [`check_merged`] checks their result.
pub(crate) fn read_patch<M: KeyedMap>(fields: &mut Fields) -> KeyedPatch<M::Value> {
    read::<M>(fields, "Keys are merged one by one: a value sets its key, null removes it.")
}

/// Requires that a stored map has at most the allowed number of keys after an update.
pub(crate) fn check_merged<M: KeyedMap>(stored: &M, patch: &KeyedPatch<M::Value>, fields: &mut Fields) {
    check(&stored.apply_patch(patch), fields);
}

/// A filter by one value of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFilter {
    /// Key of the value.
    pub key: String,
    /// Digest of the key and the value, see [`KeyedMap::digests`].
    pub digest: [u8; 16],
}

/// Declares and reads the filters by a value of the map. A row must pass all of them.
pub(crate) fn read_filter<M: KeyedMap>(params: &mut Params, about: &'static str) -> Vec<ValueFilter> {
    let values = params.read_keyed_filters(M::NAME, about, M::LIMITS.key_chars, check_key::<M>);
    values.into_iter().map(|(key, value)| ValueFilter { digest: digest(&key, &value), key }).collect()
}

/// Declares and reads the filters by a value of the metadata, as digests.
pub(crate) fn read_metadata_filter(params: &mut Params) -> Vec<[u8; 16]> {
    const ABOUT: &str = "Only entries whose metadata has this value under this key: `filter[metadata.<key>]=<value>`. \
                         The whole value is compared.";
    read_filter::<Metadata>(params, ABOUT).into_iter().map(|filter| filter.digest).collect()
}

fn check<M: KeyedMap>(map: &M, fields: &mut Fields) {
    if let Err(flaw) = map.check_key_count() {
        fields.problem(M::NAME, flaw);
    }
}

fn read<M: KeyedMap>(fields: &mut Fields, about: &'static str) -> KeyedPatch<M::Value> {
    match fields.present(&Field::with_about(M::NAME, KeyedRule::<M>(PhantomData), about)) {
        None => KeyedPatch::new(),
        Some(Ok(patch)) => patch,
        Some(Err(problems)) => {
            fields.problems(problems);
            KeyedPatch::new()
        }
    }
}

/// Parses the member of a body.
///
/// # Errors
/// Returns a problem named `<member>.<key>` for every invalid key or value.
fn parse<M: KeyedMap>(value: &Value) -> Result<KeyedPatch<M::Value>, ValidationErrors> {
    let Value::Object(members) = value else {
        let flaw = ValueError::format(format!("an object, not {}", value.kind()));
        return Err(ValidationErrors::one(M::NAME, flaw));
    };
    // A patch may remove every key and set as many new keys.
    let most = 2 * M::LIMITS.keys;
    if members.len() > most {
        let flaw = ValueError::new(Code::TooLong, format!("must have at most {most} keys in one request"));
        return Err(ValidationErrors::one(M::NAME, flaw));
    }
    let (mut patch, mut problems) = (KeyedPatch::new(), ValidationErrors::none());
    for (key, value) in members {
        let field = format!("{}.{key}", M::NAME);
        if let Err(flaw) = check_key::<M>(key) {
            problems.add(field, flaw);
        } else if patch.contains_key(key) {
            problems.add(field, ValueError::format("given only once"));
        } else {
            let value = if *value == Value::Null {
                Some(None)
            } else {
                problems.take(&field, M::Value::parse(value, M::LIMITS.value_chars)).map(Some)
            };
            patch.insert(key.clone(), value.flatten());
        }
    }
    problems.or(patch)
}

#[cfg(test)]
mod tests;

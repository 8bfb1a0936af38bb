//! Topics of a subscription: event types, or all of them (§2.4, decision F6).

use serde::{Serialize, Serializer};

use crate::event::EventType;
use crate::fields::StringEnum;
use crate::problem::ValueError;
use crate::schema::{array, inline_schema, open};

/// The topic for every event type, including types that are added later.
const EVERY: &str = "*";

/// One entry of `event_types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// `*`: events of every type.
    Every,
    /// Events of one type.
    Of(EventType),
}

impl Topic {
    /// Parses a topic.
    ///
    /// # Errors
    /// Returns `invalid_enum` with the list of valid words.
    pub fn from_word(text: &str) -> Result<Self, ValueError> {
        if text == EVERY {
            return Ok(Self::Every);
        }
        EventType::from_word(text).map(Self::Of).map_err(|_| {
            let words: Vec<_> = EventType::words().into_iter().chain([EVERY]).collect();
            ValueError::one_of(&words)
        })
    }

    /// Name of the set of topics in the OpenAPI document.
    pub const NAME: &str = "EventTopic";

    /// Returns the topic as its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => EVERY,
            Self::Of(kind) => kind.word(),
        }
    }
}

/// The topics of `event_types` in their order, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics(Vec<Topic>);

impl Topics {
    /// Creates the list of topics, without duplicates (decision F6).
    #[must_use]
    pub fn new(given: impl IntoIterator<Item = Topic>) -> Self {
        let mut topics = Vec::new();
        for topic in given {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        Self(topics)
    }

    /// Parses stored topics.
    ///
    /// # Errors
    /// Returns `invalid_enum` for an unknown word.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, ValueError> {
        words.into_iter().map(Topic::from_word).collect::<Result<Vec<_>, _>>().map(Self::new)
    }

    /// Returns the topics as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[Topic] {
        &self.0
    }

    /// Returns the topics as bits, see [`EventType::bit`]; `*` sets every bit, including those of later types.
    #[must_use]
    pub fn bits(&self) -> i64 {
        self.0.iter().fold(0, |bits, topic| match topic {
            Topic::Every => -1,
            Topic::Of(kind) => bits | kind.bit(),
        })
    }

    /// Returns `true` if events of this type are included.
    #[must_use]
    pub fn cover(&self, kind: EventType) -> bool {
        self.0.iter().any(|topic| matches!(topic, Topic::Every) || *topic == Topic::Of(kind))
    }
}

inline_schema!(Topics, "Topics", |generator| array(&open(generator, Topic::NAME)));

impl Serialize for Topics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|topic| topic.word()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_covers_its_event_type_and_star_covers_all() {
        let all = Topics::from_words(["*"]).unwrap();
        for kind in EventType::ALL {
            let one = Topics::from_words([kind.word()]).unwrap();
            assert_eq!(one.as_slice(), [Topic::Of(*kind)]);
            assert!(all.cover(*kind), "{kind:?}");
            assert_eq!((one.bits(), all.bits()), (kind.bit(), -1));
            let covered: Vec<_> = EventType::ALL.iter().filter(|kind| one.cover(**kind)).collect();
            assert_eq!(covered, [kind]);
        }
    }

    #[test]
    fn duplicate_topics_are_removed_and_star_keeps_its_neighbors() {
        let topics = Topics::from_words(["test.ping", "*", "test.ping", "*"]).unwrap();
        assert_eq!(serde_json::to_string(&topics).unwrap(), r#"["test.ping","*"]"#);
    }
}

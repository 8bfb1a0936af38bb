//! What a subscription wants to be told: event types, or all of them (§2.4, decision F6).

use serde::{Serialize, Serializer};

use crate::event::EventType;
use crate::fields::Word;
use crate::problem::Flaw;

/// The word for every event type, those included that are added later.
const EVERY: &str = "*";

/// One entry of `event_types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// `*`: all events.
    Every,
    /// Events of this type.
    Of(EventType),
}

impl Topic {
    /// The entry of a word.
    ///
    /// # Errors
    /// `invalid_enum` naming the words that would be right.
    pub fn from_word(text: &str) -> Result<Self, Flaw> {
        if text == EVERY {
            return Ok(Self::Every);
        }
        EventType::from_word(text).map(Self::Of).map_err(|_| {
            let words: Vec<_> = EventType::words().into_iter().chain([EVERY]).collect();
            Flaw::one_of(&words)
        })
    }

    /// What documents call the set of topics.
    pub const NAME: &str = "EventTopic";

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => EVERY,
            Self::Of(kind) => kind.word(),
        }
    }
}

/// The entries of `event_types`, each once, in the order they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics(Vec<Topic>);

impl Topics {
    /// Folds duplicates (decision F6).
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

    /// The entries of words that were stored.
    ///
    /// # Errors
    /// `invalid_enum` for a word that is none.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, Flaw> {
        words.into_iter().map(Topic::from_word).collect::<Result<Vec<_>, _>>().map(Self::new)
    }

    /// The entries.
    #[must_use]
    pub fn as_slice(&self) -> &[Topic] {
        &self.0
    }

    /// The set as bits, see [`EventType::bit`]; `*` has all of them, those of types that are added later included.
    #[must_use]
    pub fn bits(&self) -> i64 {
        self.0.iter().fold(0, |bits, it| match it {
            Topic::Every => -1,
            Topic::Of(kind) => bits | kind.bit(),
        })
    }

    /// Whether events of this type are among them.
    #[must_use]
    pub fn cover(&self, kind: EventType) -> bool {
        self.0.iter().any(|it| matches!(it, Topic::Every) || *it == Topic::Of(kind))
    }
}

impl Serialize for Topics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|it| it.word()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_has_its_topic_and_the_star_covers_all() {
        let all = Topics::from_words(["*"]).unwrap();
        for kind in EventType::ALL {
            let one = Topics::from_words([kind.word()]).unwrap();
            assert_eq!(one.as_slice(), [Topic::Of(*kind)]);
            assert!(all.cover(*kind), "{kind:?}");
            assert_eq!((one.bits(), all.bits()), (kind.bit(), -1));
            let covered: Vec<_> = EventType::ALL.iter().filter(|it| one.cover(**it)).collect();
            assert_eq!(covered, [kind]);
        }
    }

    #[test]
    fn duplicates_are_folded_and_the_star_may_stand_with_others() {
        let topics = Topics::from_words(["test.ping", "*", "test.ping", "*"]).unwrap();
        assert_eq!(serde_json::to_string(&topics).unwrap(), r#"["test.ping","*"]"#);
    }
}

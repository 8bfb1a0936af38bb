//! The index of words: a `tsvector` of tokens beside each row that is searched, and a GIN index of these.
//!
//! The index has no order and answers all that it finds, so lists are walked as far as that is shorter, see
//! [`candor_port_storage::search_index`].

use candor_domain::search::{WantedWord, WantedWords};

/// Tokens as the text of a `tsvector`. Nothing in a token needs to be escaped.
pub(crate) fn vector(tokens: &[String]) -> String {
    tokens.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(" ")
}

/// What is wanted as the text of a `tsquery`.
pub(crate) fn query(tokens: &WantedWords) -> String {
    let all = tokens.all.iter().map(|it| match it {
        WantedWord::Whole(token) => format!("'{token}'"),
        WantedWord::Beginning(token) => format!("'{token}':*"),
    });
    all.chain(tokens.without.iter().map(|it| format!("!'{it}'"))).collect::<Vec<_>>().join(" & ")
}

//! What a search finds.

use candor_domain::search::Score;
use serde_json::{Value, json};

use super::super::shapes::{answer, array, field, named, plain};
use super::super::vocabulary::{HIT_TYPES, open};

pub(super) fn hit() -> Value {
    let [best, least] = Score::ALL.map(Score::value);
    let score = json!({"type": "number", "minimum": 0, "maximum": best});
    let score_about = format!(
        "How well it matches: {best:.1} where it has every word, {least:.1} where the last word is only the beginning of one."
    );
    let resources = ["Observation", "Objective", "Employee", "Summary"].map(named);
    let members = vec![
        field("type", open(HIT_TYPES), "What kind of resource it is."),
        field("id", plain(), "The resource's id."),
        field("score", score, &score_about),
        field("highlights", array(&named("Highlight")), "Where the words stand, text by text."),
        field("resource", json!({"anyOf": resources}), "The resource as GET answers it, with nothing inlined."),
    ];
    answer(members, vec![])
}

pub(super) fn highlight() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let range = json!({"type": "array", "items": number, "minItems": 2, "maxItems": 2});
    let members = vec![
        field("field", plain(), "The member of the resource that has the text."),
        field(
            "snippet",
            plain(),
            "The text, or some 200 characters of it around the first word that was found, as it is stored.",
        ),
        field(
            "ranges",
            array(&range),
            "The words in the snippet, each from its first character to behind its last, counted from 0 in Unicode scalar \
             values.",
        ),
    ];
    answer(members, vec![])
}

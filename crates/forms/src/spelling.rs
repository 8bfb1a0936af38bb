//! Misspelled words, for messages that name the right one.

/// Maximum number of edits between a misspelled word and the right name.
const MOST_EDITS: usize = 2;
/// Minimum number of letters of a name for each edit of a misspelled word.
const LETTERS_PER_EDIT: usize = 4;

/// Returns `true` if a word differs from a name by few edits: at most two, and at most one for every four letters of
/// the name. Short words with many edits are no misspellings: `rank` is not `role`.
///
/// ```
/// use candor_forms::spelling::is_misspelled;
///
/// assert!(is_misspelled("employes", "employees"));
/// assert!(!is_misspelled("rank", "role"));
/// ```
#[must_use]
pub fn is_misspelled(word: &str, name: &str) -> bool {
    let is_long = word.len() > name.len() + 2 * MOST_EDITS;
    let edits = if is_long { usize::MAX } else { strsim::osa_distance(word, name) };
    edits <= MOST_EDITS && edits * LETTERS_PER_EDIT <= name.len()
}

//! Checks of words and error types, which the crates of rules share.

use std::any::type_name;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use candor_domain::fields::StringEnum;
use candor_domain::problem::Code;

/// Checks that each value of an enumeration has one word, and each word one value.
pub(crate) fn check_words<T: StringEnum + Debug>() {
    let words: BTreeSet<_> = T::words().into_iter().collect();
    assert_eq!(words.len(), T::ALL.len());
    for value in T::ALL {
        let word = value.word();
        assert_eq!(T::from_word(word), Ok(*value));
        for other in [word.to_uppercase(), format!("{word} "), word[1..].to_owned()] {
            assert_eq!(T::from_word(&other).map_err(|flaw| flaw.code), Err(Code::InvalidEnum), "{other:?}");
        }
    }
}

/// Returns the name of an error type. The function compiles only for types that implement `Error`.
pub(crate) fn name<E: Error>() -> &'static str {
    type_name::<E>().rsplit("::").next().unwrap()
}

/// Adds the error types of the public functions in a folder.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for item in text.split("    pub fn ").chain(text.split("\npub fn ")).skip(1) {
            let signature = item.split('{').next().unwrap();
            // The last arrow: a parameter may be a function that returns a result.
            let Some((_, result)) = signature.rsplit_once("-> ") else { continue };
            let Some((_, error)) = result.strip_prefix("Result<").and_then(|both| both.rsplit_once(", ")) else {
                continue;
            };
            let error = error.trim().trim_end_matches('>').rsplit("::").next().unwrap();
            // `Error` is the type of a serializer, `Self` has its name in other signatures, and one letter is a type
            // parameter.
            let is_named = error.len() > 1 && error.chars().all(char::is_alphanumeric);
            if is_named && !["Error", "Self"].contains(&error) {
                names.insert(error.to_owned());
            }
        }
    }
}

/// Checks that the public functions of a package return no other error types than these.
pub(crate) fn check_error_types(implementing: &BTreeSet<&str>, package: &Path) {
    let mut names = BTreeSet::new();
    collect(&package.join("src"), &mut names);
    assert!(names.iter().any(|name| implementing.contains(name.as_str())), "{names:?}");
    let lacking: Vec<_> = names.iter().filter(|name| !implementing.contains(name.as_str())).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

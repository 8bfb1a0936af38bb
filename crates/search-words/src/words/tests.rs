use super::*;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

fn fold_words(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.folded).collect()
}

#[test]
fn case_and_accents_are_ignored() {
    for (one, other) in [
        ("ÇOK İyi ışık", "cok iyi isik"),
        ("Straße", "STRASSE"),
        ("ΣΟΦΌΣ", "σοφος"),
        ("cafe\u{301}", "Café"),
        ("ﬁne", "FINE"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("Ångström", "angstrom"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("й", "и"),
    ] {
        assert_eq!(fold_words(one), fold_words(other), "{one} and {other}");
    }
}

#[test]
fn characters_that_are_no_letter_or_digit_separate_words() {
    let text = r#"calm-ish, "kept" AND NOT (calm*): it's 4.5% + C++ \ & | ! <-> ':* ^ {x} title:y"#;
    let expected_words =
        ["calm", "ish", "kept", "and", "not", "calm", "it", "s", "4", "5", "c", "x", "title", "y"];
    assert_eq!(fold_words(text), expected_words);
    assert_eq!(fold_words("… — ? \u{0} \t\n").len(), 0);
}

#[test]
fn text_in_a_script_without_spaces_is_split_into_pairs() {
    assert_eq!(fold_words("日本語"), ["日本", "本語", "語"]);
    assert_eq!(fold_words("東京タワーは高い"), ["東京", "京", "タワー", "は高", "高い", "い"]);
    assert_eq!(fold_words("ดีมาก"), ["ดีม", "มา", "าก", "ก"]);
}

#[test]
fn vowel_signs_that_distinguish_words_are_kept() {
    assert_ne!(fold_words("कि"), fold_words("कु"));
}

#[test]
fn emoji_is_a_word_regardless_of_skin_tone() {
    assert_eq!(fold_words("great👍🏽work 🎉"), ["great", "👍", "work", "🎉"]);
    assert_eq!(fold_words("❤️"), fold_words("❤"));
}

#[test]
fn long_word_is_truncated_between_characters() {
    for unit in ["a", "é", "я", "𝕏", "ก"] {
        let word = &fold_words(&unit.repeat(200))[0];
        assert!(word.len() <= MAX_WORD_BYTES, "{word}");
    }
    assert_eq!(fold_words(&"a".repeat(64)), fold_words(&"a".repeat(65)));
    assert_ne!(fold_words(&"a".repeat(63)), fold_words(&"a".repeat(64)));
}

#[test]
fn positions_count_scalar_values_and_include_accents() {
    let text = "👍 cafe\u{301} ﬁne";
    let places: Vec<_> = words(text).into_iter().map(|word| word.place).collect();
    assert_eq!(places, [0..1, 2..7, 8..11]);
    let places: Vec<_> = words("日本").into_iter().map(|word| word.place).collect();
    assert_eq!(places, [0..2, 1..2]);
}

proptest! {
    #[test]
    fn ascii_reader_finds_the_same_words(text in "[ -~\t\n]{0,200}") {
        let (mut quick, mut general) = (vec![], vec![]);
        each_ascii_word(&text, |met| quick.push((met.folded.to_owned(), met.place, met.run)));
        WordReader::new(|met| general.push((met.folded.to_owned(), met.place, met.run))).read(&text);
        prop_assert_eq!(quick, general);
    }

    #[test]
    fn words_are_ordered_and_fold_to_themselves(text in "\\PC{0,80}") {
        let length = text.chars().count();
        let words_of_text = words(&text);
        prop_assert!(words_of_text.iter().all(|word| word.place.start < word.place.end && word.place.end <= length), "{:?}", words_of_text);
        prop_assert!(words_of_text.windows(2).all(|pair| pair[0].place.start <= pair[1].place.start), "{:?}", words_of_text);
        for word in &words_of_text {
            prop_assert!(!word.folded.is_empty() && word.folded.len() <= MAX_WORD_BYTES);
            let folded_again = fold_words(&word.folded);
            prop_assert_eq!(folded_again.first(), Some(&word.folded), "of {:?}", word.folded);
        }
    }

    #[test]
    fn unicode_normal_forms_of_a_text_have_equal_words(text in "[a-zA-Zà-ÿĀ-žА-яΑ-ώ가-힣ァ-ヴ漢字ぁ-ん 👍,'\"*]{0,40}") {
        let expected_folding = fold_words(&text);
        prop_assert_eq!(&fold_words(&text.nfd().collect::<String>()), &expected_folding);
        prop_assert_eq!(&fold_words(&text.nfc().collect::<String>()), &expected_folding);
        prop_assert_eq!(&fold_words(&text.to_uppercase()), &expected_folding);
        prop_assert_eq!(&fold_words(&text.to_lowercase()), &expected_folding);
    }
}

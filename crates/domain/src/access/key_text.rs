//! The text of an API key: a prefix, random characters, and a checksum that exposes a mistyped key without a
//! database read (decision B4). The codes of portal links have the same form (decision B8).

use ring::digest::{SHA256, digest};

use super::Environment;
use crate::secret::Secret;

/// Number of random characters: 256 bits need 43 characters of base 62.
const RANDOM_CHARS: usize = 43;
/// Number of characters of the CRC-32.
const CHECK_CHARS: usize = 6;
const SYMBOLS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Live => "cdr_live_",
        Environment::Test => "cdr_test_",
    }
}

/// Prefix of the code in a portal link. It is no prefix of a key, so a code never authenticates a request.
const LINK_PREFIX: &str = "cdr_link_";

/// SHA-256 of a key's text, the only form in which a key is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// Returns the mark of the key's text.
    #[must_use]
    pub const fn mark(self) -> SecretMark {
        let [first, second, third, fourth, fifth, sixth, seventh, eighth, ..] = self.0;
        SecretMark(u64::from_be_bytes([first, second, third, fourth, fifth, sixth, seventh, eighth]))
    }
}

/// Distinguishes a secret of a key from its other secrets: the beginning of its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretMark(pub u64);

/// Creates a key of 256 random bits.
///
/// ```
/// use candor_domain::access::Environment;
/// use candor_domain::access::api_key::{generate, read};
///
/// let key = generate(Environment::Live, [7; 32]);
/// assert!(key.reveal().starts_with("cdr_live_"));
/// assert!(read(key.reveal()).is_some());
/// assert!(read("cdr_live_guess").is_none());
/// ```
#[must_use]
pub fn generate(environment: Environment, random: [u8; 32]) -> Secret {
    with_prefix(prefix(environment), random)
}

/// Creates the code of a portal link from 256 random bits (decision B8).
#[must_use]
pub fn generate_code(random: [u8; 32]) -> Secret {
    with_prefix(LINK_PREFIX, random)
}

fn with_prefix(prefix: &str, random: [u8; 32]) -> Secret {
    let mut text = prefix.to_owned();
    text.push_str(&base62(random));
    let check = checksum(&text);
    text.push_str(&check);
    Secret::new(text)
}

/// Returns the hash of a key, or `None` if its form or checksum is wrong.
#[must_use]
pub fn read(text: &str) -> Option<KeyHash> {
    let environments = [Environment::Live, Environment::Test];
    environments.into_iter().find_map(|environment| read_after(prefix(environment), text))
}

/// Returns the hash of a portal link's code, or `None` if its form or checksum is wrong.
#[must_use]
pub fn read_code(text: &str) -> Option<KeyHash> {
    read_after(LINK_PREFIX, text)
}

fn read_after(prefix: &str, text: &str) -> Option<KeyHash> {
    let rest = text.strip_prefix(prefix)?;
    if rest.len() != RANDOM_CHARS + CHECK_CHARS || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let (body, check) = text.split_at(text.len() - CHECK_CHARS);
    (checksum(body) == check).then(|| hash(text))
}

/// Returns the hash of a key's text.
#[must_use]
pub fn hash(text: &str) -> KeyHash {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    KeyHash(bytes)
}

fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECK_CHARS];
    for symbol in digits.iter_mut().rev() {
        *symbol = SYMBOLS[(rest % 62) as usize];
        rest /= 62;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

/// Encodes the bytes as a number of 43 digits in base 62.
fn base62(mut number: [u8; 32]) -> String {
    let mut digits = [b'0'; RANDOM_CHARS];
    for symbol in digits.iter_mut().rev() {
        let mut rest = 0_u32;
        for byte in &mut number {
            let value = rest << 8 | u32::from(*byte);
            *byte = u8::try_from(value / 62).unwrap_or_default();
            rest = value % 62;
        }
        *symbol = SYMBOLS[rest as usize];
    }
    String::from_utf8_lossy(&digits).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn key_with_one_wrong_character_is_rejected(random: [u8; 32], at in 0..58_usize, other in 0..62_usize) {
            let key = generate(Environment::Test, random);
            prop_assert_eq!(key.reveal().len(), 9 + 43 + 6);
            prop_assert_eq!(read(key.reveal()), Some(hash(key.reveal())));
            let mut bytes = key.reveal().as_bytes().to_vec();
            if bytes[at] != SYMBOLS[other] {
                bytes[at] = SYMBOLS[other];
                prop_assert_eq!(read(std::str::from_utf8(&bytes).unwrap()), None);
            }
        }
    }

    #[test]
    fn text_of_another_form_is_no_key_despite_its_checksum() {
        for random in ["-".repeat(43), "a".repeat(42)] {
            let body = format!("{}{random}", prefix(Environment::Live));
            assert_eq!(read(&format!("{body}{}", checksum(&body))), None, "{random}");
        }
        // The checksum would begin within the é.
        assert_eq!(read(&format!("{}{}é{}", prefix(Environment::Live), "a".repeat(42), "a".repeat(5))), None);
    }

    #[test]
    fn random_bytes_are_digits_of_one_number() {
        for (high, low, digits) in [(0, 61, "z"), (0, 62, "10"), (1, 0, "48"), (255, 255, "H31")] {
            let mut number = [0; 32];
            (number[30], number[31]) = (high, low);
            assert_eq!(base62(number), format!("{digits:0>43}"), "{high} {low}");
        }
    }

    #[test]
    fn code_of_a_link_is_no_key() {
        let (code, key) = (generate_code([7; 32]), generate(Environment::Live, [7; 32]));
        assert_eq!((read_code(code.reveal()), read(code.reveal())), (Some(hash(code.reveal())), None));
        assert_eq!(read_code(key.reveal()), None);
    }

    #[test]
    fn distinct_randomness_makes_distinct_keys() {
        let mut most = [0xff; 32];
        let full = generate(Environment::Live, most);
        most[31] = 0xfe;
        assert_ne!(full, generate(Environment::Live, most));
    }
}

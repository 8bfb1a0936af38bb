//! Encryption of stored secrets: AES-256-GCM under a ring of keys, the first of which seals.
//!
//! A sealed value is bound to the place where it is stored: copied to another row or tenant, it does not open.
//! Older values are bound only to their purpose. [`Vault::is_current`] detects them, and `candor rekey` seals
//! them again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::access::Tenant;
use candor_port_clock::{Ids, RandomnessError};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

/// A ring of master keys, written `id:base64,…` with 32 bytes for each key. Its `Debug` form shows only the ids.
pub struct Vault {
    keys: Vec<Key>,
}

struct Key {
    name: KeyName,
    key: LessSafeKey,
}

/// Public identity of a key: its id in the ring, and a fingerprint that reveals nothing about the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName {
    /// Id of the key in the ring.
    pub id: String,
    /// Fingerprint of the key as hexadecimal digits; collisions are negligible.
    pub fingerprint: String,
}

/// Number of fingerprint digits shown to operators for comparison.
const DIGITS_SHOWN: usize = 8;

impl std::fmt::Display for KeyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.fingerprint.get(..DIGITS_SHOWN).unwrap_or(&self.fingerprint);
        write!(f, "{} ({digits}…)", self.id)
    }
}

/// Purpose, tenant and row of a sealed value. A value opens only with the context that it was sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealContext<'a> {
    /// Kind of value, such as a webhook secret.
    pub purpose: &'static str,
    /// Tenant that owns the value; `None` for values of the database itself.
    pub tenant: Option<Tenant>,
    /// Identifier of the row.
    pub row: &'a [u8],
}

impl SealContext<'_> {
    /// Encodes the context as associated data of the cipher. The encoding is unambiguous.
    fn associated_data(&self) -> Vec<u8> {
        let tenant = self.tenant.map(Tenant::to_bytes);
        let parts = [self.purpose.as_bytes(), tenant.as_ref().map_or(&[], |id| id.as_slice()), self.row];
        parts
            .iter()
            .flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.iter().copied()))
            .collect()
    }
}

/// Error of a text that is not a valid key ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `id:base64,…`: different ids of 1 to 16 letters and digits, each with 32 bytes in base64 (44 \
     characters)"
)]
pub struct KeyRingError;

/// Error of a sealed value that cannot be opened: its key is not in the ring, the value was altered, or the value
/// was sealed for another context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no key of this ring decrypts the value")]
pub struct UnsealError;

/// Maximum length of a key id in bytes.
const MAX_ID: usize = 16;
/// First byte of a value bound to its place. Older values begin with the length of the key id, at most
/// [`MAX_ID`].
const BOUND: u8 = 0x81;
/// Length of a fingerprint in bytes.
const FINGERPRINT_BYTES: usize = 8;
/// Input of the HMAC that gives the fingerprint of a key.
const FINGERPRINT_OF: &[u8] = b"candor: fingerprint of a master key";

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.name.id)).finish()
    }
}

impl Vault {
    /// Parses a ring of keys.
    ///
    /// # Errors
    /// [`KeyRingError`].
    pub fn parse(text: &str) -> Result<Self, KeyRingError> {
        let keys: Result<Vec<_>, _> = text.split(',').map(|part| key(part.trim())).collect();
        let keys = keys?;
        let distinct = |(at, key): (usize, &Key)| keys[..at].iter().all(|other| other.name.id != key.name.id);
        let distinct = keys.iter().enumerate().all(distinct);
        if distinct { Ok(Self { keys }) } else { Err(KeyRingError) }
    }

    /// Returns the public identities of the keys, the sealing one first.
    pub fn names(&self) -> impl Iterator<Item = &KeyName> {
        self.keys.iter().map(|key| &key.name)
    }

    /// Seals bytes for the purpose, tenant and row of a context. Opening them needs the same context.
    ///
    /// # Errors
    /// [`RandomnessError`] if there is none for the nonce.
    pub fn seal(&self, ids: &dyn Ids, place: &SealContext<'_>, plain: &[u8]) -> Result<Vec<u8>, RandomnessError> {
        let Key { name, key } = self.keys.first().ok_or(RandomnessError)?;
        let mut nonce = [0; NONCE_LEN];
        ids.fill(&mut nonce)?;
        let mut cipher_text = plain.to_vec();
        let nonce_value = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce_value, Aad::from(place.associated_data()), &mut cipher_text)
            .map_err(|_| RandomnessError)?;
        let mut sealed_bytes = Vec::with_capacity(2 + name.id.len() + NONCE_LEN + cipher_text.len());
        sealed_bytes.extend([BOUND, u8::try_from(name.id.len()).unwrap_or_default()]);
        sealed_bytes.extend(name.id.as_bytes());
        sealed_bytes.extend(nonce);
        sealed_bytes.extend(cipher_text);
        Ok(sealed_bytes)
    }

    /// Returns `true` if the value is sealed by the first key of the ring and bound to its place.
    #[must_use]
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        let parts = SealedParts::parse(sealed);
        let key_id = parts.filter(|part| part.is_bound).map(|part| part.key_id);
        self.keys.first().is_some_and(|key| key_id == Some(key.name.id.as_bytes()))
    }

    /// Opens a value that was sealed for a context.
    ///
    /// # Errors
    /// [`UnsealError`].
    pub fn open(&self, place: &SealContext<'_>, sealed: &[u8]) -> Result<Vec<u8>, UnsealError> {
        let SealedParts { is_bound, key_id, rest } = SealedParts::parse(sealed).ok_or(UnsealError)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_LEN>().ok_or(UnsealError)?;
        let Key { key, .. } = self.keys.iter().find(|key| key.name.id.as_bytes() == key_id).ok_or(UnsealError)?;
        let bound_data = if is_bound { place.associated_data() } else { place.purpose.as_bytes().to_vec() };
        let mut bytes = rest.to_vec();
        let plain = key
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(bound_data), &mut bytes)
            .map_err(|_| UnsealError)?
            .len();
        bytes.truncate(plain);
        Ok(bytes)
    }
}

/// Parts of a sealed value: whether it is bound to its place, the key id, and the remaining bytes.
struct SealedParts<'a> {
    is_bound: bool,
    key_id: &'a [u8],
    rest: &'a [u8],
}

impl<'a> SealedParts<'a> {
    fn parse(sealed: &'a [u8]) -> Option<Self> {
        let is_bound = sealed.first() == Some(&BOUND);
        let (length, rest) = sealed.get(usize::from(is_bound)..)?.split_first()?;
        let (key_id, rest) = rest.split_at_checked(usize::from(*length))?;
        Some(Self { is_bound, key_id, rest })
    }
}

fn key(text: &str) -> Result<Key, KeyRingError> {
    let (id, encoded) = text.split_once(':').ok_or(KeyRingError)?;
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(KeyRingError);
    }
    let bytes = STANDARD.decode(encoded).map_err(|_| KeyRingError)?;
    let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| KeyRingError)?;
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes), FINGERPRINT_OF);
    let fingerprint = tag.as_ref().iter().take(FINGERPRINT_BYTES).map(|tag| format!("{tag:02x}")).collect();
    Ok(Key { name: KeyName { id: id.to_owned(), fingerprint }, key: LessSafeKey::new(key) })
}

/// Creates a ring with one new random key.
///
/// # Errors
/// [`RandomnessError`].
pub fn generate(ids: &dyn Ids) -> Result<String, RandomnessError> {
    Ok(format!("k1:{}", STANDARD.encode(candor_port_clock::random32(ids)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;
    use candor_port_clock::SeededIds;
    use ulid::Ulid;

    fn place(purpose: &'static str, organization: u128, row: &'static [u8]) -> SealContext<'static> {
        let tenant = Tenant::live(OrganizationId::from_ulid(Ulid(organization)));
        SealContext { purpose, tenant: Some(tenant), row }
    }

    #[test]
    fn sealed_text_opens_only_at_its_place_with_its_master_key() {
        let ids = SeededIds::new(1);
        let first = generate(&ids).unwrap();
        let vault = Vault::parse(&first).unwrap();
        let place_of_row = place("replay", 1, b"row");
        let sealed_bytes = vault.seal(&ids, &place_of_row, b"secret").unwrap();
        assert_eq!(vault.open(&place_of_row, &sealed_bytes), Ok(b"secret".to_vec()));
        let elsewhere = [
            place("webhook", 1, b"row"),
            place("replay", 2, b"row"),
            place("replay", 1, b"other"),
            place("replay", 1, b""),
            SealContext { tenant: None, ..place_of_row },
        ];
        for elsewhere in elsewhere {
            assert_eq!(vault.open(&elsewhere, &sealed_bytes), Err(UnsealError), "{elsewhere:?}");
        }
        let rotated_vault = Vault::parse(&format!("k2:{},{first}", STANDARD.encode([9; 32]))).unwrap();
        assert_eq!(rotated_vault.open(&place_of_row, &sealed_bytes), Ok(b"secret".to_vec()));
        assert!(vault.is_current(&sealed_bytes) && !rotated_vault.is_current(&sealed_bytes));
        assert!(!vault.is_current(&[]) && !vault.is_current(&[BOUND]) && !vault.is_current(&[9, b'k']));
        for at in 0..sealed_bytes.len() {
            let mut altered_bytes = sealed_bytes.clone();
            altered_bytes[at] ^= 1;
            assert_eq!(vault.open(&place_of_row, &altered_bytes), Err(UnsealError), "byte {at}");
        }
        assert!(!sealed_bytes.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn legacy_seal_opens_for_webhooks_only_and_is_not_current() {
        // Seals the secret "whsec_old" of a webhook with a fixed key, in the form of version 0.1.0.
        let bytes = STANDARD.decode("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
        let vault = Vault::parse(&format!("k1:{}", STANDARD.encode(&bytes))).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes).unwrap());
        let mut sealed_bytes = b"whsec_old".to_vec();
        let nonce = Nonce::assume_unique_for_key([7; NONCE_LEN]);
        key.seal_in_place_append_tag(nonce, Aad::from(b"webhook"), &mut sealed_bytes).unwrap();
        let old = [b"\x02k1".as_slice(), &[7; NONCE_LEN], &sealed_bytes].concat();
        assert_eq!(vault.open(&place("webhook", 1, b"row"), &old), Ok(b"whsec_old".to_vec()));
        assert_eq!(vault.open(&place("replay", 1, b"row"), &old), Err(UnsealError));
        assert!(!vault.is_current(&old));
    }

    #[test]
    fn fingerprint_distinguishes_master_keys_without_revealing_them() {
        let ring = format!("a:{},b:{}", STANDARD.encode([1; 32]), STANDARD.encode([2; 32]));
        let names: Vec<_> = Vault::parse(&ring).unwrap().names().cloned().collect();
        let same = Vault::parse(&format!("z:{}", STANDARD.encode([1; 32]))).unwrap();
        assert_eq!(names.iter().map(|name| name.fingerprint.len()).collect::<Vec<_>>(), [16, 16]);
        assert_ne!(names[0].fingerprint, names[1].fingerprint);
        assert_eq!(same.names().next().unwrap().fingerprint, names[0].fingerprint);
        assert_eq!(names[0].to_string(), format!("a ({}…)", &names[0].fingerprint[..8]));
        assert!(!names[0].fingerprint.contains("0101"));
    }

    #[test]
    fn malformed_key_ring_is_refused() {
        let good = STANDARD.encode([1; 32]);
        assert!(Vault::parse(&format!("a:{good},b:{good}")).is_ok());
        for bad in [
            String::new(),
            good.clone(),
            format!("a:{good},a:{good}"),
            "a:c2hvcnQ=".to_owned(),
            format!(":{good}"),
        ] {
            assert!(Vault::parse(&bad).is_err(), "{bad}");
        }
    }
}

//! Key sets of providers (RFC 7517): the public keys that verify tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_forms::fields::StringEnum;
use candor_forms::json::{Object, Value};
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};

use super::algorithm::{KeyType, TokenAlgorithm, Verifier};
use super::flaw::TokenError;
use super::strict_json::{DocumentError, MAX_DOCUMENT_BYTES, read_object, text, texts};

/// Maximum number of keys of a set.
pub const MAX_KEYS: usize = 100;
/// Length of the longest `kid` of a key, in bytes. Tokens and key sets of real providers have less than 100.
pub const MAX_KEY_ID_BYTES: usize = 255;
/// Sizes of RSA moduli that are used, in bits. Smaller ones are weak, larger ones cost too much time.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// Maximum size of an RSA exponent, in bytes: the limit of ring.
const MAX_EXPONENT_BYTES: usize = 5;
/// Size of a coordinate of the curve P-256, in bytes.
const P256_BYTES: usize = 32;
/// Size of a coordinate of the curve P-384, in bytes.
const P384_BYTES: usize = 48;
/// Size of an Ed25519 public key, in bytes.
const ED25519_BYTES: usize = 32;
/// First byte of a point with both coordinates.
const UNCOMPRESSED: u8 = 4;

/// The keys of a provider that can verify tokens. Other keys of its set are ignored.
///
/// ```
/// use candor_tokens::key_set::KeySet;
///
/// let set = br#"{"keys": [
///     {"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
///     {"kty": "oct", "k": "c2VjcmV0"}
/// ]}"#;
/// assert_eq!(KeySet::parse(set)?.len(), 1);
/// # Ok::<(), candor_tokens::key_set::KeySetError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<VerificationKey>,
}

/// The reason why a key set cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// There is no list `keys`.
    #[error("the document has no array `keys`; check that the jwks_uri of the provider leads to its key set")]
    NoList,
    /// There are more than [`MAX_KEYS`] keys.
    #[error("the key set has more than 100 keys")]
    TooManyKeys,
}

/// A public key that verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VerificationKey {
    id: Option<String>,
    /// The only algorithm of the key, if the provider names one.
    algorithm: Option<TokenAlgorithm>,
    material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Point { key_type: KeyType, bytes: Vec<u8> },
}

impl KeySet {
    /// Reads a key set. A set without usable keys is valid: a provider may have withdrawn all of its keys.
    ///
    /// # Errors
    /// Returns the reason why the set cannot be used.
    pub fn parse(document: &[u8]) -> Result<Self, KeySetError> {
        let object = read_object(document, MAX_DOCUMENT_BYTES)?;
        let Some(Value::List(items)) = object.get("keys") else { return Err(KeySetError::NoList) };
        if items.len() > MAX_KEYS {
            return Err(KeySetError::TooManyKeys);
        }
        Ok(Self { keys: items.iter().filter_map(VerificationKey::read).collect() })
    }

    /// Returns the number of usable keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the size of the keys in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.keys.iter().map(VerificationKey::size).sum()
    }

    /// Returns `true` if no key is usable.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns `true` if a key has this `kid`.
    #[must_use]
    pub fn has_key(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.id.as_deref() == Some(id))
    }

    /// Returns the one key for an algorithm and a `kid`. Without `kid`, only one key of the set may fit.
    ///
    /// # Errors
    /// Returns [`TokenError::UnknownKey`], [`TokenError::UnfitKey`] or [`TokenError::AmbiguousKey`].
    pub(super) fn select(
        &self,
        algorithm: TokenAlgorithm,
        id: Option<&str>,
    ) -> Result<&VerificationKey, TokenError> {
        let is_named = |key: &&VerificationKey| id.is_none() || key.id.as_deref() == id;
        let named_keys: Vec<_> = self.keys.iter().filter(is_named).collect();
        let mut fit_keys = named_keys.iter().copied().filter(|key| key.fits(algorithm));
        match (fit_keys.next(), fit_keys.next()) {
            (Some(key), None) => Ok(key),
            (Some(_), Some(_)) => Err(TokenError::AmbiguousKey),
            (None, _) if named_keys.is_empty() => Err(TokenError::UnknownKey),
            (None, _) => Err(TokenError::UnfitKey),
        }
    }
}

impl VerificationKey {
    /// Reads a key. `None` for a key that does not verify signatures here: for another use, of another type, weak,
    /// malformed, or with its private part, which everyone can read.
    fn read(item: &Value) -> Option<Self> {
        let Value::Object(members) = item else { return None };
        let is_for_signatures = match members.get("use") {
            None => true,
            Some(word) => *word == Value::Text("sig".to_owned()),
        };
        let verifies = members.get("key_ops").is_none()
            || texts(members, "key_ops").is_some_and(|operations| operations.contains(&"verify"));
        if !is_for_signatures || !verifies || members.get("d").is_some() {
            return None;
        }
        let material = KeyMaterial::read(members)?;
        let algorithm = match members.get("alg") {
            None => None,
            Some(_) => Some(TokenAlgorithm::from_word(text(members, "alg")?).ok()?),
        };
        if algorithm.is_some_and(|algorithm| algorithm.key_type() != material.key_type()) {
            return None;
        }
        let id = match members.get("kid") {
            None => None,
            Some(_) => Some(text(members, "kid").filter(|id| id.len() <= MAX_KEY_ID_BYTES)?.to_owned()),
        };
        Some(Self { id, algorithm, material })
    }

    /// Returns the size of the key in memory, in bytes.
    fn size(&self) -> usize {
        let material = match &self.material {
            KeyMaterial::Rsa { modulus, exponent } => modulus.len() + exponent.len(),
            KeyMaterial::Point { bytes, .. } => bytes.len(),
        };
        size_of::<Self>() + material + self.id.as_ref().map_or(0, String::len)
    }

    fn fits(&self, algorithm: TokenAlgorithm) -> bool {
        self.material.key_type() == algorithm.key_type() && self.algorithm.is_none_or(|own| own == algorithm)
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// Returns [`TokenError::Signature`].
    pub(super) fn verify(
        &self,
        algorithm: TokenAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), TokenError> {
        let result = match (algorithm.verifier(), &self.material) {
            (Verifier::Rsa(parameters), KeyMaterial::Rsa { modulus, exponent }) => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(parameters, message, signature)
            }
            (Verifier::Curve(curve), KeyMaterial::Point { bytes, .. }) => {
                UnparsedPublicKey::new(curve, bytes).verify(message, signature)
            }
            (Verifier::Rsa(_), KeyMaterial::Point { .. }) | (Verifier::Curve(_), KeyMaterial::Rsa { .. }) => {
                return Err(TokenError::UnfitKey);
            }
        };
        result.map_err(|_| TokenError::Signature)
    }
}

impl KeyMaterial {
    fn read(members: &Object) -> Option<Self> {
        match (text(members, "kty")?, text(members, "crv")) {
            ("RSA", _) => Self::read_rsa(members),
            ("EC", Some("P-256")) => Self::read_point(members, KeyType::P256, P256_BYTES),
            ("EC", Some("P-384")) => Self::read_point(members, KeyType::P384, P384_BYTES),
            ("OKP", Some("Ed25519")) => {
                let bytes = bytes(members, "x").filter(|bytes| bytes.len() == ED25519_BYTES)?;
                Some(Self::Point { key_type: KeyType::Ed25519, bytes })
            }
            _ => None,
        }
    }

    fn read_rsa(members: &Object) -> Option<Self> {
        let number = |name| bytes(members, name).map(without_leading_zeros);
        let (modulus, exponent) = (number("n")?, number("e")?);
        let bits = modulus.len() * 8 - usize::try_from(modulus.first()?.leading_zeros()).ok()?;
        let is_usable = RSA_BITS.contains(&bits) && (1..=MAX_EXPONENT_BYTES).contains(&exponent.len());
        is_usable.then_some(Self::Rsa { modulus, exponent })
    }

    fn read_point(members: &Object, key_type: KeyType, coordinate_bytes: usize) -> Option<Self> {
        let coordinate = |name| bytes(members, name).filter(|bytes| bytes.len() == coordinate_bytes);
        let bytes = [vec![UNCOMPRESSED], coordinate("x")?, coordinate("y")?].concat();
        Some(Self::Point { key_type, bytes })
    }

    const fn key_type(&self) -> KeyType {
        match self {
            Self::Rsa { .. } => KeyType::Rsa,
            Self::Point { key_type, .. } => *key_type,
        }
    }
}

/// Returns the bytes of a base64url text.
fn bytes(members: &Object, name: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text(members, name)?).ok()
}

/// Removes the zeros that some providers write before a number.
fn without_leading_zeros(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

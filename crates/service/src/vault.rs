//! Secrets at rest: sealed with AES-256-GCM under a ring of keys, the first of which seals.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_port_clock::{Ids, NoRandomness};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// A ring of master keys: `id:base64,…`, 32 bytes each. It cannot be printed.
pub struct Vault {
    keys: Vec<(String, LessSafeKey)>,
}

/// The text is not a ring of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `id:base64,…`: ids of 1 to 16 letters and digits, and 32 bytes of base64 for each")]
pub struct NotAKeyRing;

/// What was sealed cannot be opened: its key is not in the ring, or it was altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value cannot be opened with this key ring")]
pub struct CannotOpen;

const MAX_ID: usize = 16;

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|(id, _)| id)).finish()
    }
}

impl Vault {
    /// Reads a ring of keys.
    ///
    /// # Errors
    /// [`NotAKeyRing`].
    pub fn parse(text: &str) -> Result<Self, NotAKeyRing> {
        let keys: Result<Vec<_>, _> = text.split(',').map(|it| key(it.trim())).collect();
        let keys = keys?;
        let distinct = keys.iter().enumerate().all(|(at, (id, _))| keys[..at].iter().all(|(other, _)| other != id));
        if distinct { Ok(Self { keys }) } else { Err(NotAKeyRing) }
    }

    /// Seals bytes for a purpose, which must be named again to open them.
    ///
    /// # Errors
    /// [`NoRandomness`] if there is none for the nonce.
    pub fn seal(&self, ids: &dyn Ids, purpose: &[u8], plain: &[u8]) -> Result<Vec<u8>, NoRandomness> {
        let (id, key) = self.keys.first().ok_or(NoRandomness)?;
        let mut nonce = [0; NONCE_LEN];
        ids.fill(&mut nonce)?;
        let mut sealed = plain.to_vec();
        let nonce_value = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce_value, Aad::from(purpose), &mut sealed).map_err(|_| NoRandomness)?;
        let mut out = Vec::with_capacity(1 + id.len() + NONCE_LEN + sealed.len());
        out.push(u8::try_from(id.len()).unwrap_or_default());
        out.extend(id.as_bytes());
        out.extend(nonce);
        out.extend(sealed);
        Ok(out)
    }

    /// Whether the key that seals now, the first of the ring, is the one that sealed this.
    #[must_use]
    pub fn is_sealed_by_first(&self, sealed: &[u8]) -> bool {
        let by = id_of(sealed).map(|(id, _)| id);
        self.keys.first().is_some_and(|(id, _)| by == Some(id.as_bytes()))
    }

    /// Opens what was sealed for a purpose.
    ///
    /// # Errors
    /// [`CannotOpen`].
    pub fn open(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        let (id, rest) = id_of(sealed).ok_or(CannotOpen)?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_LEN>().ok_or(CannotOpen)?;
        let (_, key) = self.keys.iter().find(|(it, _)| it.as_bytes() == id).ok_or(CannotOpen)?;
        let mut bytes = rest.to_vec();
        let plain = key
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(purpose), &mut bytes)
            .map_err(|_| CannotOpen)?
            .len();
        bytes.truncate(plain);
        Ok(bytes)
    }
}

/// The id of the key that sealed something, and what stands behind it.
fn id_of(sealed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = sealed.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

fn key(text: &str) -> Result<(String, LessSafeKey), NotAKeyRing> {
    let (id, encoded) = text.split_once(':').ok_or(NotAKeyRing)?;
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(|it| it.is_ascii_alphanumeric()) {
        return Err(NotAKeyRing);
    }
    let bytes = STANDARD.decode(encoded).map_err(|_| NotAKeyRing)?;
    let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| NotAKeyRing)?;
    Ok((id.to_owned(), LessSafeKey::new(key)))
}

/// Makes a ring of one fresh key.
///
/// # Errors
/// [`NoRandomness`].
pub fn generate(ids: &dyn Ids) -> Result<String, NoRandomness> {
    Ok(format!("k1:{}", STANDARD.encode(candor_port_clock::random32(ids)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_port_clock::SeededIds;

    #[test]
    fn what_was_sealed_opens_for_its_purpose_with_its_key_and_unaltered() {
        let ids = SeededIds::new(1);
        let first = generate(&ids).unwrap();
        let vault = Vault::parse(&first).unwrap();
        let sealed = vault.seal(&ids, b"replay", b"secret").unwrap();
        assert_eq!(vault.open(b"replay", &sealed), Ok(b"secret".to_vec()));
        assert_eq!(vault.open(b"webhook", &sealed), Err(CannotOpen));
        let rotated = Vault::parse(&format!("k2:{},{first}", STANDARD.encode([9; 32]))).unwrap();
        assert_eq!(rotated.open(b"replay", &sealed), Ok(b"secret".to_vec()));
        assert!(vault.is_sealed_by_first(&sealed) && !rotated.is_sealed_by_first(&sealed));
        assert!(!vault.is_sealed_by_first(&[]) && !vault.is_sealed_by_first(&[9, b'k']));
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(vault.open(b"replay", &altered), Err(CannotOpen), "byte {at}");
        }
        assert!(!sealed.windows(6).any(|it| it == b"secret"));
    }

    #[test]
    fn a_key_ring_is_exact() {
        let good = STANDARD.encode([1; 32]);
        assert!(Vault::parse(&format!("a:{good},b:{good}")).is_ok());
        for bad in
            [String::new(), good.clone(), format!("a:{good},a:{good}"), "a:c2hvcnQ=".to_owned(), format!(":{good}")]
        {
            assert!(Vault::parse(&bad).is_err(), "{bad}");
        }
    }
}

//! The secrets that deliveries are signed with, as they are made, sealed and opened (§2.4, decision F5).

use candor_domain::secret::Secret;
use candor_domain::signature::generate;
use candor_port_clock::{Ids, NoRandomness, random32};

use crate::vault::{CannotOpen, Vault};

/// The purpose that secrets of webhooks are sealed for.
const WEBHOOK: &[u8] = b"webhook";

/// A new secret.
///
/// # Errors
/// [`NoRandomness`].
pub(crate) fn make(ids: &dyn Ids) -> Result<Secret, NoRandomness> {
    Ok(generate(random32(ids)?))
}

/// A secret as it is stored.
///
/// # Errors
/// [`NoRandomness`].
pub(crate) fn seal(vault: &Vault, ids: &dyn Ids, secret: &Secret) -> Result<Vec<u8>, NoRandomness> {
    vault.seal(ids, WEBHOOK, secret.reveal().as_bytes())
}

/// A secret that was stored.
///
/// # Errors
/// [`CannotOpen`].
pub(crate) fn open(vault: &Vault, sealed: &[u8]) -> Result<Secret, CannotOpen> {
    let plain = vault.open(WEBHOOK, sealed)?;
    String::from_utf8(plain).map(Secret::new).map_err(|_| CannotOpen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault;
    use candor_port_clock::SeededIds;

    #[test]
    fn a_secret_is_sealed_for_webhooks_and_for_nothing_else() {
        let ids = SeededIds::new(1);
        let vault = Vault::parse(&vault::generate(&ids).unwrap()).unwrap();
        let secret = make(&ids).unwrap();
        let sealed = seal(&vault, &ids, &secret).unwrap();
        assert_eq!(open(&vault, &sealed), Ok(secret.clone()));
        assert_eq!(vault.open(b"replay", &sealed), Err(CannotOpen));
        let other = vault.seal(&ids, b"replay", secret.reveal().as_bytes()).unwrap();
        assert_eq!(open(&vault, &other), Err(CannotOpen));
    }
}

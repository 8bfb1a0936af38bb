//! Cursors of exports as clients get them: sealed, because a client that knew the content of a cursor could make
//! cursors of its own.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::Tenant;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::vault::SealContext;

fn place(tenant: Tenant) -> SealContext<'static> {
    SealContext { purpose: "export cursor", tenant: Some(tenant), row: b"" }
}

/// Seals the cursor of a data set.
pub(super) fn seal(services: &Services, tenant: Tenant, cursor: &str) -> Result<String, Error> {
    let sealed_cursor = services.vault.seal(&*services.ids, &place(tenant), cursor.as_bytes());
    sealed_cursor.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).map_err(Error::from)
}

/// Returns the cursor that a sealed text contains; `None` if no key of the ring sealed the text for this data set.
pub(super) fn open(services: &Services, tenant: Tenant, sealed: &str) -> Option<String> {
    let sealed_bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let cursor = services.vault.open(&place(tenant), &sealed_bytes).ok()?;
    String::from_utf8(cursor).ok()
}

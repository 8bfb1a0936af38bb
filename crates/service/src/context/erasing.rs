//! Beginning of an erasure, the encrypted names of the person in other systems, and the replays that name the person.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::erasure::{Erasure, ErasurePlan, Requester};
use candor_domain::id::{EmployeeId, ErasureId};
use candor_domain::objective::Family;
use candor_domain::page::PageRequest;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{ReportingLineChange, Row, StorageExt, StoredReplay, Versioned, Write};
use candor_provisioning::connector::ScimLink;
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::read::ID;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::Services;
use crate::context::vault::{SealContext, UnsealError};

/// Purpose in the seal context of names.
const ERASURE: &str = "erasure";

/// Status of a replay that was removed because it names an erased person.
pub(crate) const REMOVED_REPLAY: u16 = 404;

/// Encrypts the address of a person and their names in other systems. The erasure keeps them until it is completed.
///
/// # Errors
/// [`Error::Unavailable`] without randomness for the seal.
fn seal_names(services: &Services, tenant: Tenant, erasure: ErasureId, names: &[&str]) -> Result<Vec<u8>, Error> {
    let text = names.join("\n");
    Ok(in_place(tenant, erasure, |place| services.vault.seal(&*services.ids, place, text.as_bytes()))?)
}

fn in_place<T>(tenant: Tenant, erasure: ErasureId, act: impl FnOnce(&SealContext<'_>) -> T) -> T {
    act(&SealContext { purpose: ERASURE, tenant: Some(tenant), row: &erasure.to_bytes() })
}

/// Decrypts the address of a person and their names in other systems, in this order. Empty for an erasure that keeps none.
///
/// # Errors
/// [`UnsealError`] if no key of the ring opens them. Without them the erasure would end with the address still stored.
pub(crate) fn open_names(
    services: &Services,
    tenant: Tenant,
    erasure: &Erasure,
) -> Result<Vec<String>, UnsealError> {
    let Some(sealed_names) = &erasure.sealed_email else { return Ok(vec![]) };
    let bytes = in_place(tenant, erasure.id, |place| services.vault.open(place, sealed_names))?;
    let text = String::from_utf8(bytes).map_err(|_| UnsealError)?;
    Ok(text.lines().filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect())
}

/// Encrypts the names of a running erasure with the first key of the ring. Returns `None` if they already are, or if the
/// erasure keeps none.
///
/// # Errors
/// [`UnsealError`] if no key of the ring opens them.
pub(crate) fn reseal_names(
    services: &Services,
    tenant: Tenant,
    erasure: &Erasure,
) -> Result<Option<Result<Vec<u8>, Error>>, UnsealError> {
    let names = open_names(services, tenant, erasure)?;
    let is_current = erasure.sealed_email.as_ref().is_none_or(|sealed| services.vault.is_current(sealed));
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Ok((!is_current).then(|| seal_names(services, tenant, erasure.id, &names)))
}

/// Returns the decrypted contents of a replay as text: the id and the body of the reply are among them. `None` if
/// the key of the seal is lost, so that the replay is unreadable.
pub(crate) fn replay_text(
    services: &Services,
    tenant: Tenant,
    key: &str,
    replay: &StoredReplay,
) -> Option<String> {
    let place = Services::replay_context(tenant, key);
    let plain = services.vault.open(&place, &replay.sealed).ok()?;
    Some(String::from_utf8_lossy(&plain).into_owned())
}

/// The id of an erasure, and its request.
pub(crate) struct ErasureOrigin {
    pub(crate) id: ErasureId,
    pub(crate) requested_by: Requester,
    pub(crate) requested_at: Timestamp,
}

/// Returns a new erasure, and the writes of its beginning: the pseudonym in place of the person, the erasure, and
/// the revoked keys. `stored` is the person as stored, `erased` is the same person with a pseudonym.
pub(crate) async fn begin(
    services: &Services,
    tenant: Tenant,
    (stored, erased): (&Versioned<Employee>, Employee),
    origin: ErasureOrigin,
    at: Timestamp,
) -> Result<(Erasure, Vec<Write>), Error> {
    let person = stored.value.id;
    let keys = person_data::keys_of(services, tenant, person).await?;
    let link = services.store.row::<ScimLink>(tenant, person).await?.map(|link| link.value);
    let mut names = vec![stored.value.email.as_str()];
    names.extend(stored.value.external_id.as_deref());
    names.extend(link.iter().map(|link| link.user_name.as_str()));
    names.extend(link.iter().filter_map(|link| link.external_id.as_deref()));
    let plan = ErasurePlan {
        employee_id: person,
        requested_by: origin.requested_by,
        counts: counts(services, tenant, person, keys.len()).await?,
        tables_to_rewrite: services.store.tables_to_rewrite().iter().map(|name| (*name).to_owned()).collect(),
        sealed_email: seal_names(services, tenant, origin.id, &names)?,
    };
    let erasure = Erasure::begin(origin.id, plan, origin.requested_at);
    let lines = stored.value.manager_id.map(|_| ReportingLineChange { seen: None });
    let mut writes = vec![
        Write::employee(&Row::at_version(erased, stored.version), lines),
        Write::put(&Row::new(erasure.clone())),
    ];
    let closed_row = |key: Versioned<ApiKey>| Row::at_version(key.value.closed_by_erasure(at), key.version);
    writes.extend(keys.into_iter().map(|key| Write::put(&closed_row(key))));
    Ok((erasure, writes))
}

/// Ends the wait of an erasure for the end of a legal hold: the erasure is due, and a worker checks for holds again.
pub(crate) async fn resume(services: &Services, tenant: Tenant, erasure: ErasureId) -> Result<(), Error> {
    let set = vec![
        (Column::new("resumes_at", Type::Time), SqlValue::Null(Type::Time)),
        (Column::new("running_since", Type::Time), SqlValue::Time(services.clock.now())),
    ];
    let values = vec![erasure.into()];
    let resumption = ErasureChange::Overwrite { table: Erasure::TABLE.name, by: ID, values, set };
    Ok(services.store.apply_erasure(tenant, &[resumption]).await?)
}

async fn count_invitations(services: &Services, tenant: Tenant, person: EmployeeId) -> Result<u64, Error> {
    let (mut request, mut count) = (PageRequest::ALL, 0);
    loop {
        let (page, after) = person_data::invitations_page(services, tenant, person, &request).await?;
        (count, request.after) = (count + page.len() as u64, after);
        if request.after.is_none() {
            return Ok(count);
        }
    }
}

async fn count_issues(services: &Services, tenant: Tenant, person: EmployeeId) -> Result<u64, Error> {
    let (mut request, mut count) = (PageRequest::ALL, 0);
    loop {
        let (page, after) = person_data::issues_page(services, tenant, person, &request).await?;
        (count, request.after) = (count + page.len() as u64, after);
        if request.after.is_none() {
            return Ok(count);
        }
    }
}

/// Counts the rows about the person that an index finds, by kind. The scans of the erasure find further rows later.
async fn counts(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
    keys: usize,
) -> Result<BTreeMap<String, u64>, Error> {
    let store = &services.store;
    let count = |kind: &str, count: u64| (kind.to_owned(), count);
    let objectives = |family: Family| {
        person_data::count(services, tenant, move |page| person_data::objectives(person, family, page))
    };
    let accounts = u64::from(store.row::<ScimLink>(tenant, person).await?.is_some());
    Ok(BTreeMap::from([
        count(
            "observations",
            person_data::count(services, tenant, |page| person_data::observations(person, page)).await?,
        ),
        count("objectives", objectives(Family::Employees).await? + objectives(Family::Managers).await?),
        count(
            "check_ins",
            person_data::count(services, tenant, |page| rows::check_ins::list_about(person, page)).await?,
        ),
        count(
            "summaries",
            person_data::count(services, tenant, |page| person_data::summaries(person, page)).await?,
        ),
        count(
            "assignments",
            person_data::count(services, tenant, |page| person_data::assignments(person, page)).await?,
        ),
        count(
            "messages",
            person_data::count(services, tenant, |page| rows::conversations::messages_of(person, page)).await?,
        ),
        count(
            "notifications",
            person_data::count(services, tenant, |page| person_data::notifications(person, page)).await?,
        ),
        count("invitations", count_invitations(services, tenant, person).await?),
        count("sync_issues", count_issues(services, tenant, person).await?),
        count("scim_accounts", accounts),
        count(
            "identity_links",
            person_data::count(services, tenant, |page| rows::identity_links::of_person(person, page)).await?,
        ),
        count("api_keys", keys as u64),
    ]))
}

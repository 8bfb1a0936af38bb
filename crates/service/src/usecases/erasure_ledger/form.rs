//! Form of a ledger: JSON lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::erasure::Requester;
use serde::{Deserialize, Serialize};

use super::{HoldEntry, KeyRevocation, Ledger, LedgerEntry};
use crate::context::error::Error;

/// Version of the form of a ledger.
const VERSION: u32 = 5;
/// Earlier versions that can be read. Version 2 added seals, version 3 holds, version 4 ends of holds, and version 5
/// revocations.
const EARLIER: [u32; 4] = [1, 2, 3, 4];
/// A line of a ledger.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum LedgerLine {
    Header {
        version: u32,
    },
    Revocation {
        organization_id: String,
        key_id: String,
        revoked_at: String,
        seal: String,
    },
    Release {
        organization_id: String,
        employee_id: String,
        released_at: String,
        seal: String,
    },
    Hold {
        organization_id: String,
        employee_id: String,
        held_at: String,
        seal: String,
    },
    Erasure {
        organization_id: String,
        id: String,
        employee_id: String,
        requested_by: String,
        requested_at: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<String>,
    },
    End {
        count: usize,
    },
}

/// A line of a ledger that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LedgerLineError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Reason why the line is not valid.
    pub reason: String,
}

/// Returns the lines of a ledger.
///
/// # Errors
/// [`Error::Bug`].
pub fn to_text(ledger: &Ledger) -> Result<String, Error> {
    let revocations = ledger.revocations.iter().map(|revocation| LedgerLine::Revocation {
        organization_id: revocation.organization_id.to_string(),
        key_id: revocation.key_id.to_string(),
        revoked_at: revocation.revoked_at.to_string(),
        seal: STANDARD.encode(&revocation.seal),
    });
    let releases = ledger.releases.iter().map(|release| LedgerLine::Release {
        organization_id: release.organization_id.to_string(),
        employee_id: release.employee_id.to_string(),
        released_at: release.at.to_string(),
        seal: STANDARD.encode(&release.seal),
    });
    let holds = ledger.holds.iter().map(|hold| LedgerLine::Hold {
        organization_id: hold.organization_id.to_string(),
        employee_id: hold.employee_id.to_string(),
        held_at: hold.at.to_string(),
        seal: STANDARD.encode(&hold.seal),
    });
    let lines = ledger.erasures.iter().map(|entry| LedgerLine::Erasure {
        organization_id: entry.organization_id.to_string(),
        id: entry.id.to_string(),
        employee_id: entry.employee_id.to_string(),
        requested_by: entry.requested_by.id.clone(),
        requested_at: entry.requested_at.to_string(),
        seal: entry.seal.as_ref().map(|seal| STANDARD.encode(seal)),
    });
    let count = ledger.count();
    let (header, end) = (LedgerLine::Header { version: VERSION }, LedgerLine::End { count });
    let mut text = String::new();
    for line in [header].into_iter().chain(revocations).chain(releases).chain(holds).chain(lines).chain([end]) {
        text.push_str(&serde_json::to_string(&line).map_err(|error| Error::Bug(error.to_string()))?);
        text.push('\n');
    }
    Ok(text)
}

fn invalid(member: &str) -> String {
    format!("`{member}` is not valid")
}

/// Reads the organization, the person, the time and the seal of a line about a hold. `time` is the name of the member
/// with the time.
fn parse_hold([organization_id, employee_id, at, seal]: [String; 4], time: &str) -> Result<HoldEntry, String> {
    Ok(HoldEntry {
        organization_id: organization_id.parse().map_err(|_| invalid("organization_id"))?,
        employee_id: employee_id.parse().map_err(|_| invalid("employee_id"))?,
        at: at.parse().map_err(|_| invalid(time))?,
        seal: STANDARD.decode(seal).map_err(|_| invalid("seal"))?,
    })
}

/// Reads the lines of a ledger.
///
/// # Errors
/// The first line that is not valid; a ledger without its last line.
pub fn parse(text: &str) -> Result<Ledger, LedgerLineError> {
    let (mut ledger, mut is_complete) = (Ledger::default(), false);
    for (at, line) in text.lines().enumerate() {
        let flaw = |reason: String| LedgerLineError { line: at + 1, reason };
        let entry = serde_json::from_str(line).map_err(|error| flaw(error.to_string()))?;
        match entry {
            _ if is_complete => return Err(flaw("the ledger has lines after `end`".to_owned())),
            LedgerLine::Header { version } if at == 0 && (version == VERSION || EARLIER.contains(&version)) => {}
            LedgerLine::Header { .. } => {
                return Err(flaw(format!(
                    "the first line, and no other line, must be a header of a version from {} to {VERSION}",
                    EARLIER[0]
                )));
            }
            _ if at == 0 => return Err(flaw("the first line must be the header".to_owned())),
            LedgerLine::Revocation { organization_id, key_id, revoked_at, seal } => {
                let member = |name: &str| flaw(invalid(name));
                ledger.revocations.push(KeyRevocation {
                    organization_id: organization_id.parse().map_err(|_| member("organization_id"))?,
                    key_id: key_id.parse().map_err(|_| member("key_id"))?,
                    revoked_at: revoked_at.parse().map_err(|_| member("revoked_at"))?,
                    seal: STANDARD.decode(seal).map_err(|_| member("seal"))?,
                });
            }
            LedgerLine::Release { organization_id, employee_id, released_at, seal } => {
                let members = [organization_id, employee_id, released_at, seal];
                ledger.releases.push(parse_hold(members, "released_at").map_err(flaw)?);
            }
            LedgerLine::Hold { organization_id, employee_id, held_at, seal } => {
                let members = [organization_id, employee_id, held_at, seal];
                ledger.holds.push(parse_hold(members, "held_at").map_err(flaw)?);
            }
            LedgerLine::Erasure { organization_id, id, employee_id, requested_by, requested_at, seal } => {
                let member = |name: &str| flaw(invalid(name));
                ledger.erasures.push(LedgerEntry {
                    organization_id: organization_id.parse().map_err(|_| member("organization_id"))?,
                    id: id.parse().map_err(|_| member("id"))?,
                    employee_id: employee_id.parse().map_err(|_| member("employee_id"))?,
                    requested_by: Requester::with_id(&requested_by).ok_or_else(|| member("requested_by"))?,
                    requested_at: requested_at.parse().map_err(|_| member("requested_at"))?,
                    seal: seal.map(|seal| STANDARD.decode(seal)).transpose().map_err(|_| member("seal"))?,
                });
            }
            LedgerLine::End { count } => {
                let read = ledger.count();
                if count != read {
                    return Err(flaw(format!("the ledger has {read} of {count} lines before `end`")));
                }
                is_complete = true;
            }
        }
    }
    if is_complete {
        return Ok(ledger);
    }
    Err(LedgerLineError {
        line: text.lines().count() + 1,
        reason: "the ledger is not complete: `end` is missing".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{EmployeeId, ErasureId, KeyId, OrganizationId};
    use candor_domain::time::Timestamp;

    fn ledger() -> Ledger {
        let holds = vec![HoldEntry {
            organization_id: OrganizationId::from_bytes([1; 16]),
            employee_id: EmployeeId::from_bytes([7; 16]),
            at: Timestamp::from_millis(1_772_442_000_000),
            seal: vec![6; 40],
        }];
        let releases = vec![HoldEntry { employee_id: EmployeeId::from_bytes([8; 16]), ..holds[0].clone() }];
        let erasures = vec![LedgerEntry {
            organization_id: OrganizationId::from_bytes([1; 16]),
            id: ErasureId::from_bytes([2; 16]),
            employee_id: EmployeeId::from_bytes([3; 16]),
            requested_by: Requester::key(KeyId::from_bytes([4; 16])),
            requested_at: Timestamp::from_millis(1_772_442_000_000),
            seal: Some(vec![5; 40]),
        }];
        let revocations = vec![KeyRevocation {
            organization_id: OrganizationId::from_bytes([1; 16]),
            key_id: KeyId::from_bytes([9; 16]),
            revoked_at: Timestamp::from_millis(1_772_442_000_000),
            seal: vec![7; 40],
        }];
        Ledger { revocations, releases, holds, erasures }
    }

    #[test]
    fn written_ledger_is_read_again() {
        let text = to_text(&ledger()).unwrap();
        assert_eq!(text.lines().count(), 6);
        assert_eq!(parse(&text), Ok(ledger()));
    }

    #[test]
    fn damaged_ledger_is_refused_with_its_line() {
        let text = to_text(&ledger()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for (damaged, line) in [
            (lines[..5].join("\n"), 6),
            (lines[1..].join("\n"), 1),
            ([lines[0], lines[5]].join("\n"), 2),
            ([lines[0], lines[2], lines[3], lines[4], lines[5]].join("\n"), 5),
            (text.replace("key_0", "obs_0"), 2),
            (text.replace("emp_", "obs_"), 3),
            (text.replace("released_at", "held_at"), 3),
            (text.replace("\"version\":5", "\"version\":6"), 1),
            (format!("{text}{}", lines[1]), 7),
            ("not a ledger".to_owned(), 1),
            (String::new(), 1),
        ] {
            assert_eq!(parse(&damaged).map_err(|flaw| flaw.line), Err(line), "{damaged}");
        }
    }

    #[test]
    fn ledger_of_each_earlier_version_is_read() {
        for version in EARLIER {
            let text = to_text(&ledger()).unwrap().replace("\"version\":5", &format!("\"version\":{version}"));
            assert_eq!(parse(&text), Ok(ledger()));
        }
        let flaw = parse("{\"type\":\"header\",\"version\":6}").unwrap_err();
        assert!(flaw.reason.contains("a version from 1 to 5"), "{flaw}");
    }
}

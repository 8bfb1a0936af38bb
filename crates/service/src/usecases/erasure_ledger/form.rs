//! Form of a ledger: JSON lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::erasure::Requester;
use candor_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{HoldEntry, KeyRevocation, Ledger, LedgerEnd, LedgerEntry};
use crate::context::error::Error;

/// Version of the form of a ledger.
const VERSION: u32 = 6;
/// Earlier versions that can be read. Version 2 added seals, version 3 holds, version 4 ends of holds, version 5
/// revocations, and version 6 the seal of the end.
const EARLIER: [u32; 5] = [1, 2, 3, 4, 5];
/// Version from which the end has a time and a seal.
const SEALED_END: u32 = 6;

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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written_at: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<String>,
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

/// Returns the lines of a ledger that was written at this time. `seal` seals the text that covers all lines.
///
/// # Errors
/// [`Error::Bug`]; the error of `seal`.
pub(super) fn to_text(
    ledger: &Ledger,
    written_at: Timestamp,
    seal: impl FnOnce(&str) -> Result<Vec<u8>, Error>,
) -> Result<String, Error> {
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
    let header = LedgerLine::Header { version: VERSION };
    let mut text = String::new();
    for line in [header].into_iter().chain(revocations).chain(releases).chain(holds).chain(lines) {
        push_line(&mut text, &line)?;
    }
    let count = ledger.count();
    let seal = STANDARD.encode(seal(&covered_text(&text, count, written_at))?);
    push_line(&mut text, &LedgerLine::End { count, written_at: Some(written_at.to_string()), seal: Some(seal) })?;
    Ok(text)
}

fn push_line(text: &mut String, line: &LedgerLine) -> Result<(), Error> {
    text.push_str(&serde_json::to_string(line).map_err(|error| Error::Bug(error.to_string()))?);
    text.push('\n');
    Ok(())
}

/// Returns the text that the seal of the end covers. `lines` are all lines before the end.
fn covered_text(lines: &str, count: usize, written_at: Timestamp) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, lines.as_bytes());
    format!("{count} {written_at} {}", STANDARD.encode(digest))
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

/// Reads the members of a line about a revoked API key.
fn parse_revocation([organization_id, key_id, revoked_at, seal]: [String; 4]) -> Result<KeyRevocation, String> {
    Ok(KeyRevocation {
        organization_id: organization_id.parse().map_err(|_| invalid("organization_id"))?,
        key_id: key_id.parse().map_err(|_| invalid("key_id"))?,
        revoked_at: revoked_at.parse().map_err(|_| invalid("revoked_at"))?,
        seal: STANDARD.decode(seal).map_err(|_| invalid("seal"))?,
    })
}

/// Reads the members of a line about an erasure.
fn parse_erasure(
    [organization_id, id, employee_id, requested_by, requested_at]: [String; 5],
    seal: Option<String>,
) -> Result<LedgerEntry, String> {
    Ok(LedgerEntry {
        organization_id: organization_id.parse().map_err(|_| invalid("organization_id"))?,
        id: id.parse().map_err(|_| invalid("id"))?,
        employee_id: employee_id.parse().map_err(|_| invalid("employee_id"))?,
        requested_by: Requester::with_id(&requested_by).ok_or_else(|| invalid("requested_by"))?,
        requested_at: requested_at.parse().map_err(|_| invalid("requested_at"))?,
        seal: seal.map(|seal| STANDARD.decode(seal)).transpose().map_err(|_| invalid("seal"))?,
    })
}

/// Reads the end of a ledger. `lines` are all lines before it.
fn parse_end(
    lines: &str,
    count: usize,
    written_at: Option<String>,
    seal: Option<String>,
) -> Result<LedgerEnd, String> {
    let time = written_at.and_then(|time| time.parse().ok());
    let written_at: Timestamp = time.ok_or_else(|| invalid("written_at"))?;
    let seal = seal.and_then(|seal| STANDARD.decode(seal).ok()).ok_or_else(|| invalid("seal"))?;
    Ok(LedgerEnd { written_at, seal, covered_text: covered_text(lines, count, written_at) })
}

/// Reads the lines of a ledger.
///
/// # Errors
/// The first line that is not valid; a ledger without its last line.
pub fn parse(text: &str) -> Result<Ledger, LedgerLineError> {
    let (mut ledger, mut is_complete) = (Ledger::default(), false);
    let (mut lines_before, mut has_sealed_end) = (String::new(), false);
    for (at, line) in text.lines().enumerate() {
        let flaw = |reason: String| LedgerLineError { line: at + 1, reason };
        let entry = serde_json::from_str(line).map_err(|error| flaw(error.to_string()))?;
        match entry {
            _ if is_complete => return Err(flaw("the ledger has lines after `end`".to_owned())),
            LedgerLine::Header { version } if at == 0 && (version == VERSION || EARLIER.contains(&version)) => {
                has_sealed_end = version >= SEALED_END;
            }
            LedgerLine::Header { .. } => {
                return Err(flaw(format!(
                    "the first line, and no other line, must be a header of a version from {} to {VERSION}",
                    EARLIER[0]
                )));
            }
            _ if at == 0 => return Err(flaw("the first line must be the header".to_owned())),
            LedgerLine::Revocation { organization_id, key_id, revoked_at, seal } => {
                let members = [organization_id, key_id, revoked_at, seal];
                ledger.revocations.push(parse_revocation(members).map_err(flaw)?);
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
                let members = [organization_id, id, employee_id, requested_by, requested_at];
                ledger.erasures.push(parse_erasure(members, seal).map_err(flaw)?);
            }
            LedgerLine::End { count, written_at, seal } => {
                let read = ledger.count();
                if count != read {
                    return Err(flaw(format!("the ledger has {read} of {count} lines before `end`")));
                }
                if has_sealed_end {
                    ledger.end = Some(parse_end(&lines_before, count, written_at, seal).map_err(flaw)?);
                }
                is_complete = true;
            }
        }
        lines_before.push_str(line);
        lines_before.push('\n');
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

    const WRITTEN_AT: Timestamp = Timestamp::from_millis(1_772_500_000_000);

    /// Returns the text of the ledger, with an end whose seal is the covered text itself.
    fn text() -> String {
        to_text(&ledger(), WRITTEN_AT, |covered| Ok(covered.as_bytes().to_vec())).unwrap()
    }

    /// Returns `true` if the seal of the end covers the lines before it.
    fn is_whole(text: &str) -> bool {
        parse(text).unwrap().end.is_some_and(|end| end.seal == end.covered_text.as_bytes())
    }

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
        Ledger { revocations, releases, holds, erasures, end: None }
    }

    #[test]
    fn written_ledger_is_read_again() {
        let text = text();
        assert_eq!(text.lines().count(), 6);
        let read_ledger = parse(&text).unwrap();
        assert_eq!(read_ledger.end.as_ref().map(|end| end.written_at), Some(WRITTEN_AT));
        assert_eq!(Ledger { end: None, ..read_ledger }, ledger());
    }

    #[test]
    fn seal_of_the_end_covers_each_line_and_the_time() {
        let text = text();
        assert!(is_whole(&text));
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines[1..5].iter().enumerate() {
            let fewer_lines = text.replacen(&format!("{line}\n"), "", 1).replace("\"count\":4", "\"count\":3");
            assert!(!is_whole(&fewer_lines), "without line {at}");
            let more_lines =
                text.replacen(line, &format!("{line}\n{line}"), 1).replace("\"count\":4", "\"count\":5");
            assert!(!is_whole(&more_lines), "line {at} twice");
        }
        let written_at = WRITTEN_AT.to_string();
        let later_text = text.replace(&written_at, &WRITTEN_AT.plus_seconds(1).to_string());
        assert!(later_text != text && !is_whole(&later_text));
        for member in ["written_at", "seal"] {
            let end = lines[5].replace(&format!("\"{member}\":"), &format!("\"{member}\":null,\"{member}_\":"));
            let flaw = parse(&text.replace(lines[5], &end)).unwrap_err();
            assert_eq!(flaw.line, 6, "{flaw}");
        }
    }

    #[test]
    fn damaged_ledger_is_refused_with_its_line() {
        let text = text();
        let lines: Vec<_> = text.lines().collect();
        for (damaged, line) in [
            (lines[..5].join("\n"), 6),
            (lines[1..].join("\n"), 1),
            ([lines[0], lines[5]].join("\n"), 2),
            ([lines[0], lines[2], lines[3], lines[4], lines[5]].join("\n"), 5),
            (text.replace("key_0", "obs_0"), 2),
            (text.replace("emp_", "obs_"), 3),
            (text.replace("released_at", "held_at"), 3),
            (text.replace("\"version\":6", "\"version\":7"), 1),
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
            let text = text();
            let (lines, _) = text.trim_end().rsplit_once('\n').unwrap();
            let earlier_lines = lines.replace("\"version\":6", &format!("\"version\":{version}"));
            assert_eq!(parse(&format!("{earlier_lines}\n{{\"type\":\"end\",\"count\":4}}\n")), Ok(ledger()));
        }
        let flaw = parse("{\"type\":\"header\",\"version\":7}").unwrap_err();
        assert!(flaw.reason.contains("a version from 1 to 6"), "{flaw}");
    }
}

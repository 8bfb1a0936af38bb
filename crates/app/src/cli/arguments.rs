//! Parsers and help texts of arguments that need more than a type.

use candor_domain::access::{AllowedNetworks, Permission};
use candor_domain::fields::StringEnum;
use candor_domain::time::{Date, Timestamp};

/// Parses a datetime, or a date, which means its start in UTC.
pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    let midnight = |day: Date| format!("{day}T00:00:00Z").parse();
    let read = text.parse().or_else(|_| text.parse().and_then(midnight));
    read.map_err(|_| "expected a date such as 2026-12-01, or a datetime such as 2026-12-01T18:00:00Z".to_owned())
}

/// Parses networks, separated by commas.
pub(super) fn networks(text: &str) -> Result<AllowedNetworks, String> {
    let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
    AllowedNetworks::from_texts(texts).map_err(|flaw| flaw.message)
}

/// Returns the help text of a list of scopes.
pub(super) fn scopes_help() -> String {
    let names = Permission::words();
    format!("Permissions of the key: * for all, or some of these, separated by commas: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_means_its_first_moment_and_datetime_is_kept() {
        let read = |text: &str| moment(text).map(|time| time.to_string());
        assert_eq!(read("2026-12-01").unwrap(), "2026-12-01T00:00:00.000Z");
        assert_eq!(read("2026-12-01T01:30:00+02:00").unwrap(), "2026-11-30T23:30:00.000Z");
        for wrong in ["", "tomorrow", "2026-13-01", "2026-02-29", "2026-12-01T25:00:00Z", "2026-12-1"] {
            assert!(read(wrong).unwrap_err().contains("2026-12-01"), "{wrong}");
        }
    }
}

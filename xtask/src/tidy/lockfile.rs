//! Packages that must not come in by any way, wanted by whomever.

use super::{Finding, SourceFile};

/// (package, why not)
const BANNED: [(&str, &str); 6] = [
    ("pq-sys", "the driver is pure Rust, no libpq is to be installed"),
    ("openssl-sys", "TLS is rustls"),
    ("native-tls", "TLS is rustls"),
    ("aws-lc-rs", "rustls works with ring alone, a second provider doubles the build"),
    ("aws-lc-sys", "rustls works with ring alone, a second provider doubles the build"),
    ("sqlx-core", "diesel is the one database library"),
];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let names = (1..).zip(file.text.lines()).filter_map(|(number, line)| {
        let name = line.strip_prefix("name = \"")?.strip_suffix('"')?;
        BANNED.iter().find(|(banned, _)| *banned == name).map(|(_, why)| (number, name, why))
    });
    let finding = |(number, name, why)| {
        let says = format!("{name} has come in, but {why}: `cargo tree -i {name}` shows who wants it");
        Finding::new(&file.path, number, says)
    };
    names.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn a_banned_package_is_found_by_its_whole_name() {
        let lock = |name: &str| file("Cargo.lock", &format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n"));
        assert_eq!(check(&lock("pq-sys"))[0].line, 2);
        assert_eq!(check(&lock("not-pq-sys")), []);
    }
}

//! The layers inside a crate: a folder must not use folders above or beside it, and only `service/change` commits.
//! `arrows` checks the dependencies between crates.

use super::{Finding, SourceFile};

/// A folder of a crate's sources and the texts that its files must not contain: paths of other layers, and code
/// that only `service/change` may have, such as a match on the error of a commit.
struct Layer {
    folder: &'static str,
    never: &'static [&'static str],
}

const LAYERS: [Layer; 6] = [
    Layer {
        folder: "crates/service/src/context/",
        never: &["crate::change", "crate::runtime", "crate::usecases"],
    },
    Layer { folder: "crates/service/src/change/", never: &["crate::runtime", "crate::usecases"] },
    Layer {
        folder: "crates/service/src/runtime/",
        never: &["crate::usecases", "CommitError", "store.commit(", "const ATTEMPTS"],
    },
    Layer {
        folder: "crates/service/src/usecases/",
        never: &["crate::runtime", "CommitError", "store.commit(", "const ATTEMPTS"],
    },
    Layer { folder: "crates/http/src/", never: &["CommitError", "store.commit("] },
    Layer { folder: "crates/app/src/", never: &["CommitError", "store.commit("] },
];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    let layers = LAYERS.iter().filter(|layer| file.path.starts_with(layer.folder));
    layers.flat_map(|layer| findings(file, layer)).collect()
}

fn findings(file: &SourceFile, layer: &Layer) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let forbidden_names = lines.flat_map(|(at, line)| {
        layer.never.iter().filter(|name| line.contains(**name)).map(move |name| (at, name))
    });
    let says = |name: &str| format!("{} must not use {name}; see docs/ARCHITECTURE.md", layer.folder);
    forbidden_names.map(|(at, name)| Finding::new(&file.path, at + 1, says(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn path_into_a_higher_layer_is_a_finding() {
        let text = "use crate::context::error::Error;\nuse crate::runtime::mail::Mailer;\n";
        let lines =
            |path: &str| check(&file(path, text)).into_iter().map(|finding| finding.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/service/src/context/list.rs"), [2]);
        assert_eq!(lines("crates/service/src/change/mod.rs"), [2]);
        assert_eq!(lines("crates/service/src/usecases/events.rs"), [2]);
        assert_eq!(lines("crates/service/src/runtime/sweep.rs"), [0_usize; 0]);
        assert_eq!(lines("crates/http/src/api.rs"), [0_usize; 0]);
    }

    #[test]
    fn commit_beside_the_change_pipeline_is_a_finding() {
        let text = "Err(CommitError::Stale) => {}\nservices.store.commit(tenant, change).await\n";
        let lines =
            |path: &str| check(&file(path, text)).into_iter().map(|finding| finding.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/service/src/usecases/keys.rs"), [1, 2]);
        assert_eq!(lines("crates/service/src/runtime/sweep.rs"), [1, 2]);
        assert_eq!(lines("crates/service/src/change/commit.rs"), [0_usize; 0]);
    }
}

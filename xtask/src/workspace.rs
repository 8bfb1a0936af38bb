//! What cargo knows of the workspace.

use crate::process::{Outcome, cargo, output};
use serde_json::Value;
use std::path::PathBuf;

/// The packages of this repository and where they are built.
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    pub(crate) has_library: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    pub(crate) fn load() -> Outcome<Self> {
        let text = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
        Self::parse(&serde_json::from_str(&text)?).ok_or_else(|| "cargo metadata has an unknown form".into())
    }

    fn parse(metadata: &Value) -> Option<Self> {
        let packages = metadata["packages"].as_array()?.iter().map(package).collect::<Option<Vec<_>>>()?;
        Some(Self { packages, target_directory: metadata["target_directory"].as_str()?.into() })
    }
}

fn package(it: &Value) -> Option<Package> {
    let kinds = it["targets"].as_array()?.iter().filter_map(|target| target["kind"].as_array()).flatten();
    Some(Package {
        name: it["name"].as_str()?.to_owned(),
        manifest: it["manifest_path"].as_str()?.into(),
        has_library: kinds.into_iter().any(|kind| kind == "lib"),
        dependencies: it["dependencies"].as_array()?.iter().map(dependency).collect::<Option<Vec<_>>>()?,
    })
}

fn dependency(it: &Value) -> Option<Dependency> {
    let kind = match it["kind"].as_str() {
        Some("dev") => Kind::Dev,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    };
    Some(Dependency { name: it["name"].as_str()?.to_owned(), kind })
}

//! The packages of the workspace, as cargo describes them.

use crate::process::{Outcome, cargo, output};
use serde_json::Value;
use std::path::PathBuf;

/// The packages of this repository, and the folder of their builds.
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

fn package(json: &Value) -> Option<Package> {
    let kinds = json["targets"].as_array()?.iter().filter_map(|target| target["kind"].as_array()).flatten();
    Some(Package {
        name: json["name"].as_str()?.to_owned(),
        manifest: json["manifest_path"].as_str()?.into(),
        has_library: kinds.into_iter().any(|kind| kind == "lib"),
        dependencies: json["dependencies"].as_array()?.iter().map(dependency).collect::<Option<Vec<_>>>()?,
    })
}

fn dependency(json: &Value) -> Option<Dependency> {
    let kind = match json["kind"].as_str() {
        Some("dev") => Kind::Dev,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    };
    Some(Dependency { name: json["name"].as_str()?.to_owned(), kind })
}

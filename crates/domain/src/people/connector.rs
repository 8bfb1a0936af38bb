//! Types of connectors, which decide about the keys that a connector may have (§2.3, decisions G).

use strum::{IntoStaticStr, VariantArray};

use crate::fields::string_enum;

/// The way in which the HR system sends its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// Uploads of CSV files.
    CsvFeed,
    /// Requests of an identity provider to `/scim/v2`.
    Scim,
}

string_enum!(Type, "ConnectorType");

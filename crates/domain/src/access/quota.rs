//! Quotas of API keys (§8, decision B1).

use strum::{IntoStaticStr, VariantArray};

use crate::fields::string_enum;

/// A class of requests with a quota of its own (§8, decision B1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "each is named after its word")]
pub enum QuotaClass {
    Read,
    Write,
    WebhookTest,
    Csv,
    Export,
    Scim,
}

string_enum!(QuotaClass, "QuotaClass");

/// Requests per minute of one key (§8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Quotas {
    pub read: u32,
    pub write: u32,
    pub scim: u32,
}

impl Quotas {
    /// Quotas of a key without numbers of its own.
    pub const DEFAULT: Self = Self { read: 600, write: 100, scim: 3000 };
    /// Number of webhook tests per minute, for every key.
    pub const WEBHOOK_TEST: u32 = 10;
    /// Number of CSV uploads per minute, for every key.
    pub const CSV: u32 = 6;
    /// Number of exports per minute, for every key.
    pub const EXPORT: u32 = 6;
    /// Default for the quota of an organization, as a multiple of the largest quota of its keys (decision B1).
    pub const ORGANIZATION_FACTOR: u32 = 10;

    /// Returns the requests per minute of a class.
    #[must_use]
    pub const fn for_class(self, class: QuotaClass) -> u32 {
        match class {
            QuotaClass::Read => self.read,
            QuotaClass::Write => self.write,
            QuotaClass::WebhookTest => Self::WEBHOOK_TEST,
            QuotaClass::Csv => Self::CSV,
            QuotaClass::Export => Self::EXPORT,
            QuotaClass::Scim => self.scim,
        }
    }
}

impl Default for Quotas {
    fn default() -> Self {
        Self::DEFAULT
    }
}

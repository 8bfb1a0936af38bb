//! Filters of the list of API keys (decisions B7, B10).

use super::{ApiKey, ApiKeyKind};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::time::Timestamp;

/// Filter of `GET /api-keys`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Time of the last change.
    pub updated_at: Bounds<Timestamp>,
    /// Kind of the key.
    pub kind: Option<ApiKeyKind>,
}

impl Filter {
    /// Declares and reads the parameters of `GET /api-keys`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let kind = params.one(&params::word("filter[kind]", "Only keys of this kind."));
        let filter = Self { updated_at: params.bounds(&params::UPDATED_AT), kind };
        params.list::<ApiKey, _, _>("api-keys", filter, vec![])
    }
}

//! The list of attempts over all subscriptions of a data set.

use candor_domain::id::WebhookId;
use candor_domain::page::{Sort, SortBy};
use candor_domain::params::{self, Bounds, ListRequest, Params};
use candor_domain::time::Timestamp;

use super::DeliveryFilter;

/// The conditions of the list of attempts over all subscriptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllDeliveriesFilter {
    /// The subscription; `None` for all of them.
    pub webhook_id: Option<WebhookId>,
    /// Inclusive bounds of the start of the attempt.
    pub attempted_at: Bounds<Timestamp>,
    /// The conditions that the log of one subscription has, too.
    pub log: DeliveryFilter,
}

impl AllDeliveriesFilter {
    /// Name of the set of `sort` words in the OpenAPI document.
    pub const ORDERS_NAME: &'static str = "AllDeliveriesSort";

    /// Returns every `sort` word with its order, the default first. Other orders have no index.
    pub fn sorts() -> impl Iterator<Item = (&'static str, Sort)> + Clone {
        let sorts = [Sort::descending_by(SortBy::AttemptedAt), Sort::ascending_by(SortBy::AttemptedAt)];
        sorts.into_iter().map(|sort| (sort.word(), sort))
    }

    /// Declares and reads the parameters of `GET /deliveries`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            webhook_id: params
                .one(&params::id("filter[subscription_id]", "Only attempts of the subscription with this id.")),
            attempted_at: params
                .bounds(&params::datetime("filter[attempted_at]", "Only attempts that began within the bounds.")),
            log: DeliveryFilter::read_conditions(params),
        };
        params.read_ordered_list(Self::ORDERS_NAME, "deliveries", Self::sorts(), filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::problem::Code;

    fn parse(query: &[(&str, &str)]) -> Result<ListRequest<AllDeliveriesFilter, ()>, Vec<(String, Code)>> {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::new(pairs).parse(AllDeliveriesFilter::read).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn log_of_all_is_filtered_by_subscription_and_time() {
        let id = "whk_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let time = "2026-03-02T09:00:00Z";
        let query = [("filter[subscription_id]", id), ("filter[attempted_at][gte]", time)];
        let request = parse(&query).unwrap();
        let attempted_at = Bounds { gte: time.parse().ok(), lte: None };
        let webhook_id = id.parse().ok();
        assert_eq!(request.filter, AllDeliveriesFilter { webhook_id, attempted_at, ..Default::default() });
        assert_eq!(request.sort, Sort::descending_by(SortBy::AttemptedAt));
        assert_eq!(parse(&[("sort", "attempted_at")]).unwrap().sort, Sort::ascending_by(SortBy::AttemptedAt));
        let bad = |name: &str, code| Err(vec![(name.to_owned(), code)]);
        assert_eq!(parse(&[("sort", "created_at")]), bad("sort", Code::InvalidEnum));
        assert_eq!(parse(&[("filter[url]", "x")]), bad("filter[url]", Code::UnknownField));
    }
}

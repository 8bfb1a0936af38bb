//! The parameters of `GET /search`.

use candor_search_words::{QUERY_CHARS, SearchQuery};

use super::Type;
use crate::access::Permission;
use crate::fields::StringEnum;
use crate::id::EmployeeId;
use crate::observation;
use crate::page::{Sort, SortBy};
use crate::params::{self, Bounds, ListRequest, Param, Params, ValueForm};
use crate::people::StatusFilter;
use crate::problem::{ValidationErrors, ValueError};
use crate::time::Timestamp;

/// The conditions of a search besides its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The person that the resource is about.
    pub employee_id: Option<EmployeeId>,
    /// A manager of the person that the resource is about, at any depth.
    pub manager_id: Option<EmployeeId>,
    /// The type of observations; excludes all other resources.
    pub kind: Option<observation::Type>,
    /// The status of people; `None` for people who have not left. No condition for other types.
    pub status: Option<StatusFilter>,
    /// Inclusive bounds of the creation.
    pub created_at: Bounds<Timestamp>,
}

/// A request for a page of search hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words to search for.
    pub query: SearchQuery,
    /// The searched types, without duplicates.
    pub types: Vec<Type>,
    /// The conditions and the page.
    pub list: ListRequest<Filter, ()>,
}

const Q: Param<SearchQuery> = params::param(
    "q",
    "Words to find, 1 to 200 characters and at most 10 words. All must match; the beginning of the last word is \
     enough. Case and accents are ignored. There are no operators and no wildcards.",
    ValueForm::Chars(1, QUERY_CHARS),
    SearchQuery::parse,
);
const TYPES: Param<Vec<Type>> = params::param(
    "types",
    "Types to search, separated by commas. Each type needs its read scope. Default: `observations`.",
    ValueForm::Words(Type::NAME),
    types,
);

fn types(text: &str) -> Result<Vec<Type>, ValueError> {
    let mut types = text.split(',').map(Type::from_word).collect::<Result<Vec<_>, _>>()?;
    types.sort_unstable();
    types.dedup();
    Ok(types)
}

impl SearchRequest {
    /// Declares and reads the parameters of `GET /search`; `None` without a query.
    pub fn read(params: &mut Params) -> Option<Self> {
        let query = params.required(&Q);
        let types = params.one(&TYPES).unwrap_or_else(|| vec![Type::Observations]);
        let filter = Filter {
            employee_id: params.one(&params::id(
                "filter[employee_id]",
                "Only results about this person: their observations, objectives and summaries, and the person.",
            )),
            manager_id: params.one(&params::id(
                "filter[manager_id]",
                "Only results about direct and indirect reports of this person.",
            )),
            kind: params.one(&params::word("filter[type]", "Only observations of this type.")),
            status: params.one(&params::word(
                "filter[status]",
                "Only people with this status; other types have no such condition. Default: people who have not left.",
            )),
            created_at: params.bounds(&params::datetime(
                "filter[created_at]",
                "Only results whose creation time is within the bounds.",
            )),
        };
        let list = params.read_page("search", Sort::descending_by(SortBy::Score), filter, vec![]);
        Some(Self { query: query?, types, list })
    }

    /// Reads the parameters of `GET /search`.
    ///
    /// # Errors
    /// Returns every invalid parameter.
    pub fn parse(mut params: Params) -> Result<Self, ValidationErrors> {
        let request = Self::read(&mut params);
        params.finish(request)?.ok_or_else(|| ValidationErrors::one(Q.name(), ValueError::required()))
    }
}

/// Returns the permissions for the requested types. Empty if `types` is malformed; [`SearchRequest::parse`]
/// reports that.
#[must_use]
pub fn required_permissions(params: &Params) -> Vec<Permission> {
    let mut type_lists = params.values_of(TYPES.name()).map(types);
    let searched_types = type_lists.next().unwrap_or_else(|| Ok(vec![Type::Observations])).unwrap_or_default();
    searched_types.into_iter().map(Type::permission).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Key, Position, cursor};
    use crate::problem::Code;
    use candor_search_words::Score;

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    fn params(query: Pairs<'_>) -> Params {
        Params::new(query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn parse(query: Pairs<'_>) -> Result<SearchRequest, Vec<(String, Code)>> {
        SearchRequest::parse(params(query)).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn search_without_types_finds_observations() {
        assert_eq!(parse(&[("q", "calm")]).unwrap().types, [Type::Observations]);
        let several = parse(&[("q", "calm"), ("types", "summaries,employees,summaries")]).unwrap();
        assert_eq!(several.types, [Type::Employees, Type::Summaries]);
        let scopes = required_permissions(&params(&[("types", "summaries,employees")]));
        assert_eq!(scopes, [Permission::EmployeesRead, Permission::SummariesRead]);
        assert_eq!(required_permissions(&params(&[])), [Permission::ObservationsRead]);
    }

    #[test]
    fn invalid_parameter_of_a_search_is_reported() {
        let table: &[(Pairs<'_>, &str, Code)] = &[
            (&[], "q", Code::Required),
            (&[("q", "")], "q", Code::TooShort),
            (&[("q", "?")], "q", Code::TooShort),
            (&[("q", "a"), ("q", "b")], "q", Code::InvalidFormat),
            (&[("q", "a"), ("types", "people")], "types", Code::InvalidEnum),
            (&[("q", "a"), ("types", "")], "types", Code::InvalidEnum),
            (&[("q", "a"), ("filter[type]", "praise")], "filter[type]", Code::InvalidEnum),
            (&[("q", "a"), ("filter[status]", "left")], "filter[status]", Code::InvalidEnum),
            (&[("q", "a"), ("filter[role]", "manager")], "filter[role]", Code::UnknownField),
            (&[("q", "a"), ("limit", "0")], "limit", Code::OutOfRange),
            (&[("q", "a"), ("cursor", "x")], "cursor", Code::InvalidFormat),
        ];
        for (query, field, code) in table {
            assert_eq!(parse(query).unwrap_err(), [((*field).to_owned(), *code)], "{query:?}");
        }
    }

    #[test]
    fn search_cursor_is_bound_to_words_types_and_filters() {
        let first = parse(&[("q", "calm"), ("types", "summaries"), ("filter[type]", "strength")]).unwrap();
        let position = Position { key: Key::Scored(Score::Begun, Timestamp::from_millis(7)), id: [3; 16] };
        let text = cursor(first.list.digest, &position);
        let next =
            parse(&[("q", "calm"), ("types", "summaries"), ("filter[type]", "strength"), ("cursor", &text)]);
        assert_eq!(next.unwrap().list.page.after, Some(position));
        for other in [
            [("q", "calmer"), ("types", "summaries"), ("filter[type]", "strength"), ("cursor", &*text)],
            [("q", "calm"), ("types", "employees"), ("filter[type]", "strength"), ("cursor", &text)],
            [("q", "calm"), ("types", "summaries"), ("filter[type]", "opportunity"), ("cursor", &text)],
        ] {
            assert_eq!(parse(&other).unwrap_err(), [("cursor".to_owned(), Code::InvalidFormat)], "{other:?}");
        }
    }
}

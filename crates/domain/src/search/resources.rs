//! What of each resource is searched.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::words::each_word;
use super::{Highlight, Score, SearchQuery, Type};
use crate::decision::Resource;
use crate::id::EmployeeId;
use crate::objective::{self, Objective};
use crate::observation::Observation;
use crate::page::{Key, Listed, Order, SortBy};
use crate::people::{self, Employee};
use crate::summary::{self, Summary};
use crate::time::Timestamp;
use crate::visibility::{Readers, Restricted};

/// A resource that is searched.
pub trait Searchable: Resource {
    /// What it is called in a search.
    const TYPE: Type;

    /// The members with texts whose words it is found by.
    fn texts(&self) -> Vec<(&'static str, &str)>;
    /// Whether it can be found now.
    fn is_found(&self) -> bool;
    /// The person it is about, by whom searches are narrowed.
    fn subject(&self) -> EmployeeId;
    /// Returns the people who see it (decision B5); the managers among them are those of its subject.
    fn readers(&self) -> Readers;
    /// When it was created, by which hits are ordered.
    fn created_at(&self) -> Timestamp;
    /// As a hit shows it.
    fn searched(self) -> SearchedResource;

    /// The words by which it is found now, each once; none while it is not found.
    fn found_by(&self) -> BTreeSet<String> {
        let texts = if self.is_found() { self.texts() } else { vec![] };
        let mut found_by = BTreeSet::new();
        for (_, text) in texts {
            each_word(text, |met| {
                if !found_by.contains(met.folded) {
                    found_by.insert(met.folded.to_owned());
                }
            });
        }
        found_by
    }
}

/// A resource that was found, as GET shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is named after its resource")]
pub enum SearchedResource {
    Observation(Observation),
    Objective(Objective),
    Employee(Employee),
    Summary(Summary),
}

/// A resource that matches a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// What kind of resource it is, in the singular.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its id with its prefix.
    pub id: String,
    /// How well it matches.
    #[serde(serialize_with = "as_number")]
    pub score: Score,
    /// Where it matches, by member.
    pub highlights: Vec<Highlight>,
    /// The resource.
    pub resource: SearchedResource,
    /// When the resource was created.
    #[serde(skip)]
    pub created_at: Timestamp,
    /// The bytes of its id, which break ties.
    #[serde(skip)]
    pub place: [u8; 16],
}

fn as_number<S: Serializer>(score: &Score, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(score.value())
}

impl SearchHit {
    /// The resource as a hit, if it can be found and matches.
    #[must_use]
    pub fn of<T: Searchable>(query: &SearchQuery, it: T) -> Option<Self> {
        let (score, highlights) = query.find(&it.texts()).filter(|_| it.is_found())?;
        Some(Self {
            kind: T::NAME,
            id: it.id().to_string(),
            score,
            highlights,
            created_at: it.created_at(),
            place: it.id().to_bytes(),
            resource: it.searched(),
        })
    }
}

impl Listed for SearchHit {
    const ORDERS_NAME: &'static str = "";
    const ORDERS: &'static [Order<Self>] =
        &[Order { by: SortBy::Score, key: |it| Key::Scored(it.score, it.created_at), words: &["-score"] }];
}

/// A member that may be null.
fn optional<'a>(field: &'static str, text: &'a Option<String>) -> Option<(&'static str, &'a str)> {
    text.as_deref().map(|it| (field, it))
}

impl Searchable for Observation {
    const TYPE: Type = Type::Observations;

    fn texts(&self) -> Vec<(&'static str, &str)> {
        let others = [optional("impact", &self.impact), optional("recommended_action", &self.recommended_action)];
        std::iter::once(("observation", &*self.observation)).chain(others.into_iter().flatten()).collect()
    }
    fn is_found(&self) -> bool {
        self.archived_at.is_none()
    }
    fn subject(&self) -> EmployeeId {
        self.employee_id
    }
    fn readers(&self) -> Readers {
        Restricted::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn searched(self) -> SearchedResource {
        SearchedResource::Observation(self)
    }
}

impl Searchable for Objective {
    const TYPE: Type = Type::Objectives;

    fn texts(&self) -> Vec<(&'static str, &str)> {
        std::iter::once(("title", &*self.title)).chain(optional("description", &self.description)).collect()
    }
    fn is_found(&self) -> bool {
        self.status != objective::Status::Archived
    }
    fn subject(&self) -> EmployeeId {
        self.owner_id
    }
    fn readers(&self) -> Readers {
        Restricted::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn searched(self) -> SearchedResource {
        SearchedResource::Objective(self)
    }
}

impl Searchable for Employee {
    const TYPE: Type = Type::Employees;

    fn texts(&self) -> Vec<(&'static str, &str)> {
        let always = [("first_name", &*self.first_name), ("last_name", &*self.last_name), ("email", &*self.email)];
        always.into_iter().chain(optional("job_title", &self.job_title)).collect()
    }
    fn is_found(&self) -> bool {
        self.status != people::Status::Deactivated
    }
    fn subject(&self) -> EmployeeId {
        self.id
    }
    fn readers(&self) -> Readers {
        Readers { is_public: true, people: vec![], managers_of: None }
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn searched(self) -> SearchedResource {
        SearchedResource::Employee(self)
    }
}

impl Searchable for Summary {
    const TYPE: Type = Type::Summaries;

    fn texts(&self) -> Vec<(&'static str, &str)> {
        vec![("title", &self.title), ("body", &self.body)]
    }
    fn is_found(&self) -> bool {
        self.status != summary::Status::Archived
    }
    fn subject(&self) -> EmployeeId {
        self.employee_id
    }
    fn readers(&self) -> Readers {
        Restricted::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn searched(self) -> SearchedResource {
        SearchedResource::Summary(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::summary::tests::{NOON, summary};
    use ulid::Ulid;

    #[test]
    fn a_hit_says_what_was_found_and_where() {
        let query = SearchQuery::parse("calm press").unwrap();
        let hit = SearchHit::of(&query, summary(summary::Status::Draft)).unwrap();
        assert_eq!(
            (hit.kind, hit.created_at, hit.place),
            ("summary", NOON, Id::<crate::id::SummaryKind>::from_ulid(Ulid(1)).to_bytes())
        );
        let shown = serde_json::to_value(&hit).unwrap();
        assert_eq!(shown["type"], "summary");
        assert_eq!(shown["id"], shown["resource"]["id"]);
        assert_eq!(shown["score"], 0.5);
        let highlight = serde_json::json!([
            {"field": "body", "snippet": "Calm under pressure.", "ranges": [[0, 4], [11, 19]]},
        ]);
        assert_eq!(shown["highlights"], highlight);
    }

    #[test]
    fn what_is_archived_is_found_by_nothing() {
        let query = SearchQuery::parse("calm").unwrap();
        let archived = summary(summary::Status::Archived);
        assert!(archived.found_by().is_empty());
        assert_eq!(SearchHit::of(&query, archived), None);
    }
}

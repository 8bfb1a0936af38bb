//! The searchable texts of each resource, and the hits of a search.

use std::collections::BTreeSet;

use candor_search_words::{Highlight, Score, SearchQuery, each_word};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::Type;
use crate::decision::Resource;
use crate::id::EmployeeId;
use crate::objective::{self, Objective};
use crate::observation::Observation;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::people::Employee;
use crate::schema::open;
use crate::summary::{self, Summary};
use crate::time::Timestamp;
use crate::visibility::{Readers, RestrictedResource};

/// A resource that can be found by a search.
pub trait Searchable: Resource {
    /// The type of the resource in searches.
    const TYPE: Type;

    /// Returns the searched texts with the names of their members.
    fn texts(&self) -> Vec<(&'static str, &str)>;
    /// Returns `true` if searches include the resource in its current state.
    fn is_found(&self) -> bool;
    /// Returns the person that the resource is about, which is a condition of searches.
    fn subject(&self) -> EmployeeId;
    /// Returns the people who see the resource (decision B5). The managers among them are the managers of its
    /// subject.
    fn readers(&self) -> Readers;
    /// Returns the time of the creation, by which hits are ordered.
    fn created_at(&self) -> Timestamp;
    /// Returns the resource in the form of a hit.
    fn into_searched_resource(self) -> SearchedResource;

    /// Returns the distinct words by which the resource is found; empty while searches exclude the resource.
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

/// A resource of a hit, in the form that GET returns.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, title = "SearchHitResource")]
#[expect(missing_docs, reason = "each is named after its resource")]
pub enum SearchedResource {
    Observation(Observation),
    Objective(Objective),
    Employee(Employee),
    Summary(Summary),
}

/// A resource that matches a query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchHit {
    /// Kind of resource that was found.
    #[serde(rename = "type")]
    #[schemars(schema_with = "hit_type")]
    pub kind: &'static str,
    /// Id of the resource that was found.
    pub id: String,
    /// Quality of the match: 1.0 if all words match, 0.5 if the last word matches only the beginning of a word.
    #[serde(serialize_with = "as_number")]
    pub score: Score,
    /// Positions of the words in each text.
    pub highlights: Vec<Highlight>,
    /// The resource as GET returns it, without `expand`.
    pub resource: SearchedResource,
    /// Time of the creation of the resource.
    #[serde(skip)]
    pub created_at: Timestamp,
    /// Bytes of the id, which break ties.
    #[serde(skip)]
    pub place: [u8; 16],
}

fn hit_type(generator: &mut SchemaGenerator) -> Schema {
    open(generator, SearchHit::TYPES_NAME)
}

fn as_number<S: Serializer>(score: &Score, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(score.value())
}

impl SearchHit {
    /// Name of the set of types of hits in the OpenAPI document.
    pub const TYPES_NAME: &str = "SearchHitType";

    /// Creates the hit of a resource, or returns `None` if the resource is excluded or does not match.
    #[must_use]
    pub fn from_resource<T: Searchable>(query: &SearchQuery, resource: T) -> Option<Self> {
        let (score, highlights) = query.find(&resource.texts()).filter(|_| resource.is_found())?;
        Some(Self {
            kind: T::NAME,
            id: resource.id().to_string(),
            score,
            highlights,
            created_at: resource.created_at(),
            place: resource.id().to_bytes(),
            resource: resource.into_searched_resource(),
        })
    }
}

impl Sortable for SearchHit {
    const ORDERS_NAME: &'static str = "";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::only_descending(SortBy::Score, |hit| Key::Scored(hit.score, hit.created_at))];
}

/// Returns the name and text of a nullable member, if there is a text.
fn optional<'a>(field: &'static str, text: &'a Option<String>) -> Option<(&'static str, &'a str)> {
    text.as_deref().map(|text| (field, text))
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
        RestrictedResource::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn into_searched_resource(self) -> SearchedResource {
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
        RestrictedResource::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn into_searched_resource(self) -> SearchedResource {
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
        // Searches exclude people who left by their filter of the status.
        self.erased_at.is_none()
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
    fn into_searched_resource(self) -> SearchedResource {
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
        RestrictedResource::readers(self)
    }
    fn created_at(&self) -> Timestamp {
        self.created_at
    }
    fn into_searched_resource(self) -> SearchedResource {
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
    fn search_hit_has_resource_score_and_highlights() {
        let query = SearchQuery::parse("calm press").unwrap();
        let hit = SearchHit::from_resource(&query, summary(summary::Status::Draft)).unwrap();
        assert_eq!(
            (hit.kind, hit.created_at, hit.place),
            ("summary", NOON, Id::<crate::id::SummaryKind>::from_ulid(Ulid(1)).to_bytes())
        );
        let hit_json = serde_json::to_value(&hit).unwrap();
        assert_eq!(hit_json["type"], "summary");
        assert_eq!(hit_json["id"], hit_json["resource"]["id"]);
        assert_eq!(hit_json["score"], 0.5);
        let highlight = serde_json::json!([
            {"field": "body", "snippet": "Calm under pressure.", "ranges": [[0, 4], [11, 19]]},
        ]);
        assert_eq!(hit_json["highlights"], highlight);
    }

    #[test]
    fn archived_resource_is_not_found() {
        let query = SearchQuery::parse("calm").unwrap();
        let archived_summary = summary(summary::Status::Archived);
        assert!(archived_summary.found_by().is_empty());
        assert_eq!(SearchHit::from_resource(&query, archived_summary), None);
    }
}

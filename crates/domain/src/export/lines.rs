//! The lines of an export.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ExportCursor, ExportedResource};
use crate::event::API_VERSION;
use crate::fields::StringEnum;
use crate::schema::inline_schema;
use crate::time::Timestamp;

/// The first line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportHeader {
    /// Type of the line, `header`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "header"))]
    kind: &'static str,
    /// Beginning of the export, also in the parts that a cursor continues.
    started_at: Timestamp,
    /// Cursor of `GET /events` from before the first row was read. The rows, and then every event from here on,
    /// result in the current data.
    events_cursor: String,
    /// Exported resources, in the order of the lines.
    #[schemars(with = "Vec<ExportedResource>")]
    resources: Vec<&'static str>,
    /// Version of the rows, `v1`.
    api_version: &'static str,
}

impl ExportHeader {
    /// Creates the header of an export that begins or goes on at this point.
    #[must_use]
    pub fn new(cursor: &ExportCursor, resources: &[ExportedResource]) -> Self {
        Self {
            kind: "header",
            started_at: cursor.started_at,
            events_cursor: cursor.events_cursor(),
            resources: resources.iter().map(|resource| resource.word()).collect(),
            api_version: API_VERSION,
        }
    }
}

/// A line from which an export can be continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportCheckpoint {
    /// Type of the line, `checkpoint`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "checkpoint"))]
    kind: &'static str,
    /// Value of the parameter `cursor` that continues the export after the rows before this line.
    cursor: String,
}

impl ExportCheckpoint {
    /// Creates the checkpoint with this sealed [`ExportCursor::to_text`].
    #[must_use]
    pub const fn new(cursor: String) -> Self {
        Self { kind: "checkpoint", cursor }
    }
}

/// Number of rows of each exported resource in one response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCounts(Vec<(ExportedResource, u64)>);

impl ExportCounts {
    /// Creates the counts of a response without rows.
    #[must_use]
    pub fn zero(resources: &[ExportedResource]) -> Self {
        Self(resources.iter().map(|resource| (*resource, 0)).collect())
    }

    /// Counts rows of a resource.
    pub fn add(&mut self, resource: ExportedResource, rows: u64) {
        for (counted, count) in &mut self.0 {
            *count += if *counted == resource { rows } else { 0 };
        }
    }

    /// Returns the number of rows of all resources.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }
}

impl Serialize for ExportCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (resource, count) in &self.0 {
            map.serialize_entry(resource.word(), count)?;
        }
        map.end()
    }
}

inline_schema!(ExportCounts, "ExportCounts", |_| json_schema!({
    "type": "object", "additionalProperties": {"type": "integer", "minimum": 0},
}));

/// The last line of a complete export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportEnd {
    /// Type of the line, `end`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "end"))]
    kind: &'static str,
    /// Number of rows of each resource in this response, also zero.
    counts: ExportCounts,
}

impl ExportEnd {
    /// Creates the last line.
    #[must_use]
    pub const fn new(counts: ExportCounts) -> Self {
        Self { kind: "end", counts }
    }
}

/// The line of one resource. The OpenAPI document has a schema for each type, with the schema of that resource.
#[derive(Debug)]
pub struct ExportRow {
    /// Resource in the singular, for example `employee_objective`.
    pub kind: String,
    /// The resource as GET returns it, without `expand`. The type determines its members.
    pub data: Value,
}

impl ExportRow {
    /// Name of the schema of rows in the OpenAPI document.
    pub const NAME: &str = "ExportRow";
    /// Name of the enumeration of row types in the OpenAPI document.
    pub const TYPES_NAME: &str = "ExportRowType";

    /// Returns the types of rows.
    #[must_use]
    pub fn types() -> Vec<&'static str> {
        ExportedResource::ALL.iter().map(|resource| resource.line_type()).collect()
    }
}

fn row(generator: &mut SchemaGenerator) -> Schema {
    let path = generator.settings().definitions_path.to_string();
    json_schema!({"$ref": format!("#{path}/{}", ExportRow::NAME)})
}

/// One line of an export. Later versions may have further types of lines, which clients ignore.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(missing_docs, reason = "each is named after its line")]
pub enum ExportLine {
    Header(ExportHeader),
    Row(#[schemars(schema_with = "row")] ExportRow),
    Checkpoint(ExportCheckpoint),
    End(ExportEnd),
}

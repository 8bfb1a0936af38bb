//! Samples of every operation: curl and the client libraries. `cargo xtask clients` makes them from the OpenAPI
//! document, and the tests of the libraries compile them.

use serde_json::Value;

/// The value of `x-codeSamples` for each operation id, as the build script compresses it.
const SAMPLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/samples.json.zst"));

/// Adds `x-codeSamples` to every operation.
pub(super) fn add(document: &mut Value) {
    let mut samples = read();
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|path| path.values_mut()) {
        let id = operation.get("operationId").and_then(Value::as_str);
        if let Some(sample) = id.and_then(|id| samples.get_mut(id)).map(Value::take) {
            operation["x-codeSamples"] = sample;
        }
    }
}

fn read() -> Value {
    let text = zstd::stream::decode_all(SAMPLES).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{add, read};
    use crate::contract::route::Dialect;
    use serde_json::json;

    const LABELS: [&str; 4] = ["curl", "TypeScript", "Python", "Rust"];

    #[test]
    fn every_operation_has_a_sample_in_each_language() {
        let mut document = crate::openapi::document();
        add(&mut document);
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
        let mut operation_count = 0;
        for operation in operations.filter(|operation| operation.get("operationId").is_some()) {
            let samples = operation["x-codeSamples"].as_array().expect("run `cargo xtask clients`");
            let labels: Vec<_> = samples.iter().map(|sample| sample["label"].as_str().unwrap()).collect();
            // Of the operations that answer lines, `exportData` alone is a method of the libraries.
            let is_lines = operation["responses"]["200"]["content"]["application/x-ndjson"].is_object();
            let has_method = !is_lines || operation["operationId"] == "exportData";
            assert_eq!(
                labels,
                if has_method { &LABELS[..] } else { &LABELS[..1] },
                "{}",
                operation["operationId"]
            );
            let curl = samples[0]["source"].as_str().unwrap();
            assert_eq!(curl.contains("Bearer"), operation["security"] != json!([]), "{curl}");
            assert!(
                samples.iter().all(|sample| !sample["source"].as_str().unwrap().contains("{id}")),
                "{samples:?}"
            );
            operation_count += 1;
        }
        assert_eq!(
            operation_count,
            crate::routes::ROUTES.iter().filter(|route| route.dialect == Dialect::V1).count()
        );
    }

    #[test]
    fn every_sample_belongs_to_an_operation() {
        let document = crate::openapi::document().to_string();
        for id in read().as_object().unwrap().keys() {
            assert!(document.contains(&format!("\"operationId\":\"{id}\"")), "{id}: run `cargo xtask clients`");
        }
    }
}

//! Candor over HTTP: routes, envelope, headers, OpenAPI.

//! Time and identity as ports: what the service may not make up by itself.

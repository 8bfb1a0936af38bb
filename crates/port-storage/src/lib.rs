//! What the service asks of a store, in the service's own words.

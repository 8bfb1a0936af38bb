//! Results of searches as another program sees them.

#![cfg(test)]

mod search_relevance;

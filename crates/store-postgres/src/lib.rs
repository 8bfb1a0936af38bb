//! The storage port on PostgreSQL.

//! Tests of the built binary over its command line and over real HTTP.

#[cfg(test)]
mod api;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod client;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod copying;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod data_protection;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod erasing;
#[cfg(test)]
mod erasing_kills;
#[cfg(test)]
mod exporting;
#[cfg(test)]
mod failover;
#[cfg(test)]
mod followed_kills;
#[cfg(test)]
mod health;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod import;
#[cfg(test)]
mod importing;
#[cfg(test)]
mod mails;
#[cfg(test)]
mod master_key;
#[cfg(test)]
mod newcomer;
#[cfg(test)]
mod outage;
#[cfg(test)]
mod poolers;
#[cfg(test)]
mod private_files;
#[cfg(test)]
mod rekey;
#[cfg(test)]
mod replica;
#[cfg(test)]
mod revocation;
#[cfg(test)]
mod scim;
#[cfg(test)]
mod scim_kills;
#[cfg(test)]
mod shared_limits;
#[cfg(test)]
mod sign_in_ends;
#[cfg(test)]
mod stop;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod webhooks;

//! Check of the server that counts quotas for all instances. The check itself counts as no request.

use std::time::Duration;

use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use tokio::time::timeout;

use super::finding::Finding;
use crate::wiring;
use candor_settings::{Config, RateLimiter};

const CHECK: &str = "rate limiter";
/// Time limit for the server to answer, longer than a connection takes.
const PATIENCE: Duration = Duration::from_secs(3);

/// Checks that the server that counts quotas answers. Returns `None` if none is configured.
pub(super) async fn look(config: &Config) -> Option<Finding> {
    let RateLimiter::Redis(server) = &config.rate_limiter else { return None };
    let place = format!("{}:{}", server.host, server.port);
    let check_result = match wiring::rate_limit_store(server) {
        Ok(store) => timeout(PATIENCE, store.check()).await.unwrap_or(Err(RateLimitStoreError::TooSlow)),
        Err(error) => Err(error),
    };
    Some(match check_result {
        Ok(()) => Finding::good(CHECK, format!("{place} counts quotas for all instances")),
        Err(error) => {
            let says = format!("{place} does not count quotas, so each instance counts alone: {error}");
            Finding::report_fault(CHECK, says, remedy(&error))
        }
    })
}

const fn remedy(error: &RateLimitStoreError) -> &'static str {
    match error {
        RateLimitStoreError::Unreachable(_) | RateLimitStoreError::TooSlow => {
            "check host and port in CANDOR_RATE_LIMITER, and the firewall; a server with TLS needs rediss://"
        }
        RateLimitStoreError::Tls(_) => {
            "check the host in CANDOR_RATE_LIMITER and the certificate of the server; rediss:// uses TLS, redis:// \
             does not"
        }
        RateLimitStoreError::Credentials(_) => {
            "check user name and password in CANDOR_RATE_LIMITER, and percent-encode their special characters"
        }
        RateLimitStoreError::Refused(_) => {
            "allow the user in CANDOR_RATE_LIMITER to run scripts on keys that start with candor:limit; check also \
             that the server accepts writes and has free memory"
        }
    }
}

//! Values of settings with secrets masked.

use super::setting::Setting;
use super::url;

/// Replacement of a secret.
const MASK: &str = "***";

/// Returns a setting's value with secrets masked.
pub(super) fn printable(setting: Setting, text: &str) -> String {
    match setting {
        Setting::MasterKey => MASK.to_owned(),
        Setting::DatabaseUrl | Setting::DatabaseReplicaUrl | Setting::SmtpUrl => url::mask_password(text),
        Setting::RateLimiter if text.contains(':') => url::mask_password(text),
        Setting::Listen
        | Setting::AdminListen
        | Setting::DatabasePool
        | Setting::DataDir
        | Setting::PublicUrl
        | Setting::WebhooksTrustedTargets
        | Setting::WebhooksRetrySchedule
        | Setting::WebhooksTimeout
        | Setting::WebhooksMaxSubscriptions
        | Setting::IdentityTrustedNetworks
        | Setting::OrganizationMaxKeys
        | Setting::OrganizationQuotaFactor
        | Setting::NotificationsRetention
        | Setting::SmtpFrom
        | Setting::SmtpMailsPerDay
        | Setting::SweepInterval
        | Setting::DrainDelay
        | Setting::RateLimiter
        | Setting::CorsOrigins
        | Setting::ConnectionsPerClient
        | Setting::TrustedProxies
        | Setting::Log
        | Setting::LogFormat
        | Setting::Console => text.to_owned(),
    }
}

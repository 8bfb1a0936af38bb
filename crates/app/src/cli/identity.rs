//! Arguments of `candor identity`.

use candor_domain::id::OrganizationId;
use clap::Subcommand;

/// Subcommands of `candor identity`.
#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Trust an e-mail domain of an organization without a DNS record
    ///
    /// The domain is one of `email_domains` of exactly one identity provider of the organization. People with a
    /// verified address there can then sign in through the provider. Each domain belongs to one provider of the
    /// installation.
    #[command(after_help = "Example:\n  candor identity trust --org ORG --domain example.com")]
    Trust {
        /// Organization of the identity provider
        #[arg(long)]
        org: OrganizationId,
        /// Domain of e-mail addresses
        #[arg(long)]
        domain: String,
    },
}

//! Arguments of `candor connector`.

use candor_domain::access::AllowedNetworks;
use candor_domain::id::OrganizationId;
use clap::{Args, Subcommand, ValueEnum};

use candor_cli::arguments::ConnectorCheck;

use super::arguments;

/// Subcommands of `candor connector`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConnectorCommand {
    /// Create a connector, and for an identity provider its API key, which is shown once
    Create(NewConnector),
    /// Send the requests of an identity provider and report wrong responses
    Check(ConnectorCheck),
}

/// Arguments of `candor connector create`.
#[derive(Debug, Args)]
#[command(after_help = "\
Enter the URL and the token at the identity provider. Create one person first:
some providers test the connection by reading one.

Example:
  candor connector create --kind scim --org ORG --source okta")]
pub(crate) struct NewConnector {
    /// Type of the connector
    #[arg(long, value_enum)]
    pub(crate) kind: Kind,
    /// Organization of the connector
    #[arg(long)]
    pub(crate) org: OrganizationId,
    /// Name of the system, as `hris_source` of the people that it manages
    #[arg(long, value_name = "SLUG")]
    pub(crate) source: String,
    /// Create the key for the test data set
    #[arg(long)]
    pub(crate) test: bool,
    /// Quota of SCIM requests per minute [default: 3000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) scim_per_minute: Option<u32>,
    /// Networks from which the key can be used, separated by commas [default: all]
    #[arg(long, value_name = "CIDR,…", value_parser = arguments::networks)]
    pub(crate) networks: Option<AllowedNetworks>,
}

/// Type of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// An identity provider, such as Okta or Entra ID
    Scim,
    /// Uploads of CSV files
    #[value(name = "csv_feed")]
    CsvFeed,
}

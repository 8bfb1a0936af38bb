//! Arguments of the commands that call a service with the user's key.

mod export;
mod field;

use std::path::PathBuf;

use candor_domain::id::ConnectorId;
use clap::{Args, Subcommand, ValueEnum};

use crate::remote::{AccountChoice, ProfileName};

pub use export::{ExportCommand, ExportFormat};
pub use field::FieldArgument;

/// Commands that call a service with a key of the user. They read no settings of an installation.
#[derive(Debug, Subcommand)]
pub enum RemoteCommand {
    /// Check an API key and store it as a profile for `candor api`
    Login(Login),
    /// Forget a profile of `candor login`
    #[command(after_help = "\
An API key stays valid: `candor key revoke` ends it. The session of `candor login --browser` ends.

Example:
  candor logout --profile staging")]
    Logout {
        /// Name of the profile
        #[arg(long, value_name = "NAME", default_value = ProfileName::DEFAULT)]
        profile: ProfileName,
    },
    /// List the profiles of `candor login`, without their keys
    #[command(after_help = "Example:\n  candor profiles --json")]
    Profiles,
    /// Send a request with the key of a profile, like a signed-in curl
    Api(Box<ApiArguments>),
    /// Write all resources of an organization to files, through a running service
    Export(ExportCommand),
    /// Create and update people from a CSV file through a running service
    Import(Import),
}

/// Arguments of `candor login`.
#[derive(Debug, Args)]
#[command(after_help = "The key is read from the terminal without echo, or from standard input, and stored \
                        only if the service accepts it, in $XDG_CONFIG_HOME/candor/profiles.toml or \
                        ~/.config/candor/profiles.toml, which only you can read. `candor logout` removes the \
                        profile.

With --browser you sign in as yourself instead, with the account of your organization. The browser has to run on \
                        this machine. Compare the code that it shows, and confirm your name before the session is stored. \
                        The profile is then a session of yours, which ends by itself, and which `candor logout` ends.

The exit status is that of `candor api`.

Examples:
  candor login --url \
                        https://feedback.example.com
  candor login --url https://feedback.example.com --browser
  pass candor/staging | candor login --url \
                        https://staging.example.com --profile staging")]
pub struct Login {
    /// URL of the service
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
    /// Name of the profile; an existing one is replaced
    #[arg(long, value_name = "NAME", default_value = ProfileName::DEFAULT)]
    pub(crate) profile: ProfileName,
    /// Sign in in the browser as a person, instead of reading a key
    #[arg(long)]
    pub(crate) browser: bool,
    /// Send the key over plain HTTP to another machine
    #[arg(long)]
    pub(crate) insecure: bool,
}

/// Arguments of `candor api`.
#[derive(Debug, Args)]
#[command(after_help = "\
URL and key are those of --profile, or of --url with CANDOR_API_KEY, or of CANDOR_URL with CANDOR_API_KEY, or of \
CANDOR_PROFILE, or of the profile `default`. Lost connections, 429 and 503 are retried up to 3 times. Every POST has an \
idempotency key.

The response is printed as it arrives, and indented on a terminal unless --json is given. An error response is printed, \
too, and explained on standard error.

Exit status:
  0  success
  1  another failure, such as a file
  2  wrong usage, or no such profile
  3  the key is refused or lacks a permission (401, 403)
  4  the request is refused (another 4xx)
  5  the service is busy or fails (429, 5xx); the same command may succeed later
  6  no response

Examples:
  candor api GET employees -q limit=5
  candor api GET employees -f 'filter[status]=active' --paginate | jq -r '.data[].email'
  candor api POST employees -f email=ada@example.com -f first_name=Ada -f last_name=Moreau --dry-run
  candor api PATCH employees/EMPLOYEE_ID -f 'custom_fields:={\"city\": \"Paris\"}'
  candor api POST employees/csv --input people.csv")]
pub struct ApiArguments {
    #[command(flatten)]
    pub(crate) request: ApiRequest,
    /// Follow the cursors of a list, and print all its pages as one
    #[arg(long, conflicts_with = "include")]
    pub(crate) paginate: bool,
    /// Print status and headers of the response, too
    #[arg(long, short)]
    pub(crate) include: bool,
    #[command(flatten)]
    pub(crate) account: AccountChoice,
}

/// The request of `candor api`.
#[derive(Debug, Args)]
pub(crate) struct ApiRequest {
    /// HTTP method of the request: GET, POST, PUT, PATCH or DELETE
    #[arg(value_parser = method, value_name = "METHOD")]
    pub(crate) method: ApiMethod,
    /// Path below /v1, such as employees or /v1/employees
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Parameter of the query; may be repeated
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) query: Vec<FieldArgument>,
    /// Member of the JSON body, or parameter of a GET or DELETE; NAME=VALUE is a text, NAME:=JSON any JSON value;
    /// may be repeated
    #[arg(long = "field", short, value_name = "NAME=VALUE")]
    pub(crate) fields: Vec<FieldArgument>,
    /// File with the body, or - for standard input: JSON, or CSV for a path that ends in /csv
    #[arg(long, value_name = "FILE", conflicts_with = "fields")]
    pub(crate) input: Option<PathBuf>,
    /// Show the effects of a write without any change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Key under which the service remembers a POST, so that this command can be repeated [default: a new one]
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

/// Methods of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum ApiMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

const METHODS: &str = "expected GET, POST, PUT, PATCH or DELETE, then the path, such as candor api GET employees";

fn method(text: &str) -> Result<ApiMethod, String> {
    ApiMethod::from_str(text, true).map_err(|_| METHODS.to_owned())
}

/// Arguments of `candor import`.
#[derive(Debug, Args)]
#[command(after_help = "The key needs the scope employees:write. URL and key are those of `candor api`: a \
                        profile, or --url or CANDOR_URL with CANDOR_API_KEY.

The exit status is 0 when every \
                        row was imported, 1 when something failed, 2 for wrong usage, and 130 after Ctrl-C. \
                        The command always reports the progress of each part, also after a failure; with \
                        --json the report is one object.

Examples:
  candor import people.csv --dry-run
  \
                        hr-export | candor import - --url https://feedback.example.com --json")]
pub struct Import {
    /// CSV file, or - for standard input; large files are sent in parts
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: PathBuf,
    /// Only show the effect of each row
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Empty cells clear stored values
    #[arg(long)]
    pub(crate) clear_empty: bool,
    /// Column of the file that is ignored without a warning; may be repeated
    #[arg(long = "ignore-column", value_name = "NAME")]
    pub(crate) ignore_columns: Vec<String>,
    /// Connector on whose behalf the file is imported
    #[arg(long, value_name = "CONNECTOR_ID")]
    pub(crate) connector: Option<ConnectorId>,
    #[command(flatten)]
    pub(crate) account: AccountChoice,
}

/// Arguments of `candor connector check`.
#[derive(Debug, Args)]
#[command(after_help = "\
The key is the token of the connector. The exit status is 1 if a response is wrong.

Example:
  CANDOR_API_KEY=TOKEN candor connector check --url https://feedback.example.com --write")]
pub struct ConnectorCheck {
    /// Also create a person, change it and remove it; needs a token of the test data set
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) account: AccountChoice,
}

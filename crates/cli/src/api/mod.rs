//! `candor api`: sends a request with the user's key, like a signed-in curl.

mod call;
mod field;
mod indent;
mod pages;
mod print;

use candor_client::Candor;

use crate::arguments::ApiArguments;
use crate::error::CommandError;
use crate::output::Output;
use crate::remote::{Account, RemoteError};
use call::Call;
use print::{PrintedResponse, Printer};

/// Name of the command in `User-Agent`.
const AGENT: &str = "candor-api";

/// Sends the request and prints the response. The body of an error response is printed, too.
///
/// # Errors
/// [`RemoteError`], whose exit status states the class of the failure; [`CommandError::Io`] if the output cannot be
/// written.
pub(crate) async fn run(api: ApiArguments, output: Output) -> Result<(), CommandError> {
    let printer = Printer::new(api.include, output);
    let (account, paginate) = (api.account, api.paginate);
    let call = Call::new(api.request)?;
    if paginate {
        call.check_pages()?;
    }
    let candor = Account::find(account)?.client(AGENT)?;
    let api_response = if paginate { pages::join_pages(&candor, &call).await } else { send(&candor, &call).await };
    match api_response {
        Ok(api_response) => printer.print_response(&api_response),
        Err(failure) => {
            if let Some(response) = failure.response() {
                printer.print_error_response(response)?;
            }
            Err(failure.into())
        }
    }
}

async fn send(candor: &Candor, call: &Call) -> Result<PrintedResponse, RemoteError> {
    let response =
        call.request(candor, None).send().await.map_err(RemoteError::naming_request(call.to_string()))?;
    Ok(PrintedResponse { head: Some((response.status, response.headers)), body: response.data.into() })
}

//! Reads all pages of a list and joins them to one page, for `--paginate`.

use candor_client::Candor;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call::Call;
use super::print::PrintedResponse;
use crate::remote::RemoteError;

/// A page of a list, with its entries as they arrived.
#[derive(Serialize, Deserialize)]
struct Page {
    data: Vec<Box<RawValue>>,
    #[serde(default)]
    has_more: bool,
    next_cursor: Option<String>,
}

/// Reads all pages, and returns them as one page in JSON.
///
/// # Errors
/// [`RemoteError::Call`] if a page cannot be read; [`RemoteError::NoList`] if a response is no page of a list.
pub(super) async fn join_pages(candor: &Candor, call: &Call) -> Result<PrintedResponse, RemoteError> {
    let mut whole = page(candor, call, None).await?;
    while let Some(cursor) = whole.next_cursor.take_if(|_| whole.has_more) {
        let next = page(candor, call, Some(&cursor)).await?;
        whole.data.extend(next.data);
        (whole.has_more, whole.next_cursor) = (next.has_more, next.next_cursor);
    }
    let body = serde_json::to_vec(&whole).map_err(|_| RemoteError::NoList(call.to_string()))?;
    Ok(PrintedResponse { head: None, body })
}

async fn page(candor: &Candor, call: &Call, cursor: Option<&str>) -> Result<Page, RemoteError> {
    let response =
        call.request(candor, cursor).send().await.map_err(RemoteError::naming_request(call.to_string()))?;
    serde_json::from_slice(&response.data).map_err(|_| RemoteError::NoList(call.to_string()))
}

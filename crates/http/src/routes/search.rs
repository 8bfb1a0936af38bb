//! Search (decision G).

use candor_service::{Shell, search as use_case};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::ReadsTypes;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[Route::get("/search", ReadsTypes, search)
    .named("search", "Find what was written by its words")
    .with(&queries::SEARCH)
    .answers("SearchHitList")];

fn search<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { use_case::search(shell, &it.call, it.params).await })
}

//! Search (decision G).

use candor_service::{Shell, search as use_case};

use crate::exchange::AuthenticatedRequest;
use crate::table::Work;

pub(crate) fn search<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { use_case::search(shell, &it.call, it.params).await })
}

//! Handlers that only call a use case.

/// Declares handlers that call a use case with the caller and parts of the request, and answer with its reply.
///
/// `update => attributes::update(id, body);` declares the handler `update`. The parts are the arguments of the use case
/// after the caller: `id` and `second_id`, the identifiers in the path; `params`, the parameters of the query; `body`,
/// the members of the JSON body; and a value of the code in braces. A handler may have one type parameter.
macro_rules! handlers {
    ($($handler:ident $(<$type:ident: $bound:ident>)? => $($use_case:ident)::+($($part:tt),*);)*) => {
        $(
            fn $handler $(<$type: $bound>)?(
                request: $crate::contract::request::AuthenticatedRequest<'_>,
            ) -> $crate::contract::route::Work<'_> {
                Box::pin(async move {
                    $($use_case)::+(&request.context $(, handlers!(@$part request))*).await
                })
            }
        )*
    };
    (@id $request:ident) => { $request.id()? };
    (@second_id $request:ident) => { $request.second_id()? };
    (@params $request:ident) => { $request.params };
    (@body $request:ident) => { $request.body };
    (@{$value:expr} $request:ident) => { $value };
}

pub(crate) use handlers;

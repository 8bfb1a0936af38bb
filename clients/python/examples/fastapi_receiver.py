from collections.abc import Callable

from candor_client import WebhookVerificationError, webhooks
from fastapi import FastAPI, Request, Response


def receiver(secrets: list[str], handle: Callable[[webhooks.Delivered], None]) -> FastAPI:
    """A FastAPI application that receives deliveries at `/hooks/candor`."""
    app = FastAPI()

    # The raw body: a parsed one cannot be verified.
    @app.post("/hooks/candor")
    async def deliver(request: Request) -> Response:
        try:
            handle(webhooks.unwrap(await request.body(), request.headers, secrets))
        except WebhookVerificationError:
            return Response(status_code=400)
        return Response(status_code=204)

    _ = deliver
    return app

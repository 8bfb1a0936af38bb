from collections.abc import Callable

from candor_client import WebhookVerificationError, webhooks
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt


def receiver(secrets: list[str], handle: Callable[[webhooks.Delivered], None]) -> URLPattern:
    """A path of Django that receives deliveries at `hooks/candor`."""

    @csrf_exempt
    def deliver(request: HttpRequest) -> HttpResponse:
        try:
            handle(webhooks.unwrap(request.body, request.headers, secrets))
        except WebhookVerificationError:
            return HttpResponse(status=400)
        return HttpResponse(status=204)

    return path("hooks/candor", deliver)

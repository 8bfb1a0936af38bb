"""What the generated requests need to know that a schema cannot say."""

import datetime
import itertools
import os

import requests
import schemathesis

# The key that all requests come with: revoked by one of them, it would end the run for the others.
OWN_KEY = os.environ.get("SCHEMATHESIS_KEY_ID")
NO_KEY = "key_00000000000000000000000000"

addresses = itertools.count(1)


def complete(adapter, request, **kwargs):
    # Failures are counted per address. Each request comes from one of its own, so that what is tried is the refusal
    # of a bad key and not the limit on how often one is refused.
    number = next(addresses)
    request.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    # A made-up version matches nothing, and every request would end there.
    request.headers.pop("If-Match", None)


# The last step before a request is sent; an edit of the case itself would make a bad one count as a good one.
requests.adapters.HTTPAdapter.add_headers = complete


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method != "GET" and (case.path_parameters or {}).get("id") == OWN_KEY:
        case.path_parameters["id"] = NO_KEY
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    query = case.query or {}
    # A cursor belongs to a page that was read before.
    query.pop("cursor", None)
    # Nor does the feed go back for more than 30 days.
    if query.get("since") not in (None, "now"):
        query["since"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
    # The schema cannot say "not after the upper bound".
    for name in [name for name in query if name.endswith("[gte]")]:
        query.pop(name.replace("[gte]", "[lte]"), None)
    # Nor "not in the future", "not in the past" and "not before the other one".
    if isinstance(case.body, dict):
        if case.body.get("observation_date") is not None:
            case.body["observation_date"] = "2024-02-29"
        if case.body.get("expires_at") is not None:
            case.body["expires_at"] = "2999-12-31T23:59:59.999Z"
        if isinstance(case.body.get("period_end"), str):
            case.body["period_end"] = "9999-12-31"
        if isinstance(case.body.get("period_start"), str):
            case.body["period_start"] = min(case.body["period_start"], "2024-02-29")
        # Nor "both ends of a period or neither".
        ends = [name for name in ("period_start", "period_end") if isinstance(case.body.get(name), str)]
        if "/summaries" in case.path and len(ends) == 1:
            case.body["period_start"] = case.body["period_end"] = None
        # Nor "not more than there are reviewers".
        reviewers, required = case.body.get("reviewer_ids"), case.body.get("required_submissions")
        if isinstance(reviewers, list) and reviewers and isinstance(required, (int, float)):
            case.body["required_submissions"] = min(required, len(reviewers))
        # Nor which URLs may be called; on this machine nobody listens at this one.
        if isinstance(case.body.get("url"), str):
            case.body["url"] = "https://127.0.0.1:9/"
        # Nor "within the last 30 days".
        if isinstance(case.body.get("since"), str):
            case.body["since"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
            case.body.pop("until", None)

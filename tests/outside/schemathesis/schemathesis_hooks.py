"""Changes generated requests to meet rules of the API that a schema cannot express."""

import datetime
import itertools
import os

import requests
import schemathesis

# Id of the key that all requests use. A request that revokes it would make all later ones fail.
OWN_KEY = os.environ.get("SCHEMATHESIS_KEY_ID")
NO_KEY = "key_00000000000000000000000000"

addresses = itertools.count(1)

DRY_RUN = {"$ref": "#/components/parameters/DryRun"}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # The document has the response to a dry run at its parameter only. Generated requests use the parameter.
    response = raw_schema["components"]["parameters"]["DryRun"]["x-candor-response"]
    effects = response["content"]["application/json"]["schema"]
    for item in raw_schema["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and DRY_RUN in operation.get("parameters", []):
                written = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
                schema = {"anyOf": [written["schema"], effects]} if written else effects
                content = {"application/json": {"schema": schema}}
                operation["responses"]["200"] = {**response, "content": content}


def complete(adapter, request, **kwargs):
    # The service limits failed authentications per client address. An address for each request keeps that limit
    # from replacing the 401 that a bad key must give.
    number = next(addresses)
    request.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    # No generated `If-Match` is a current version, so that every request with one would fail.
    request.headers.pop("If-Match", None)


# Headers change in the last step before sending, so that Schemathesis judges a request by its generated case.
requests.adapters.HTTPAdapter.add_headers = complete


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method != "GET" and (case.path_parameters or {}).get("id") == OWN_KEY:
        case.path_parameters["id"] = NO_KEY
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    query = case.query or {}
    # Removed, because a valid cursor must come from an earlier page.
    query.pop("cursor", None)
    # The feed accepts no time more than 30 days ago.
    if query.get("since") not in (None, "now"):
        query["since"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
    # Removes upper bounds: the schema cannot express that the lower bound must not be later.
    for name in [name for name in query if name.endswith("[gte]")]:
        query.pop(name.replace("[gte]", "[lte]"), None)
    # Observations are not in the future, expiry is not in the past, and a period does not end before it starts.
    if isinstance(case.body, dict):
        if case.body.get("observation_date") is not None:
            case.body["observation_date"] = "2024-02-29"
        if case.body.get("expires_at") is not None:
            case.body["expires_at"] = "2999-12-31T23:59:59.999Z"
        if isinstance(case.body.get("period_end"), str):
            case.body["period_end"] = "9999-12-31"
        if isinstance(case.body.get("period_start"), str):
            case.body["period_start"] = min(case.body["period_start"], "2024-02-29")
        # A period has both ends or neither.
        ends = [name for name in ("period_start", "period_end") if isinstance(case.body.get(name), str)]
        if "/summaries" in case.path and len(ends) == 1:
            case.body["period_start"] = case.body["period_end"] = None
        # An assignment cannot require more submissions than it has reviewers.
        reviewers, required = case.body.get("reviewer_ids"), case.body.get("required_submissions")
        if isinstance(reviewers, list) and reviewers and isinstance(required, (int, float)):
            case.body["required_submissions"] = min(required, len(reviewers))
        # The service accepts few webhook URLs. This one is valid, and no process listens at it.
        if isinstance(case.body.get("url"), str):
            case.body["url"] = "https://127.0.0.1:9/"
        # A replay starts within the last 30 days.
        if isinstance(case.body.get("since"), str):
            case.body["since"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
            case.body.pop("until", None)

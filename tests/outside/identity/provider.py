"""An OpenID Connect provider made of authlib, on a port of this machine. Its first line of output is the port. A line of standard input
is its setup: client_id, client_secret (null for a public client), redirect_uri, subject, email, audience and named
(the id of the provider at the service, which access tokens have, or null); or the word `rotate`,
which replaces its key. Each line is answered with one. It signs with ES256."""

import json
import sys
import threading
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, request
from joserfc import jwt
from joserfc.jwk import ECKey
from werkzeug.serving import make_server

ALGORITHM = "ES256"
SCOPE = "openid email profile"
CODES = {}
KEYS = []


def rotate():
    """Replaces the key: tokens are signed with the new one, and the former one is no longer published."""
    key = ECKey.generate_key("P-256", parameters={"use": "sig", "alg": ALGORITHM})
    key.ensure_kid()
    KEYS[:] = [key]


rotate()
app = Flask(__name__)
server = make_server("127.0.0.1", 0, app, threaded=True)
issuer = f"http://127.0.0.1:{server.port}"
print(server.port, flush=True)
setup = {}


class Client(ClientMixin):
    """The client of the service."""

    id_token_signed_response_alg = ALGORITHM

    def get_client_id(self):
        return setup["client_id"]

    def get_default_redirect_uri(self):
        return setup["redirect_uri"]

    def get_allowed_scope(self, scope):
        return " ".join(one for one in scope.split() if one in SCOPE.split())

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == setup["redirect_uri"]

    def check_client_secret(self, client_secret):
        return client_secret == setup["client_secret"]

    def check_endpoint_auth_method(self, method, endpoint):
        return method == ("client_secret_basic" if setup["client_secret"] else "none")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


class Code(AuthorizationCodeMixin):
    """A code, with what its token will say."""

    def __init__(self, payload):
        self.code_challenge = payload.data.get("code_challenge")
        self.code_challenge_method = payload.data.get("code_challenge_method")
        self.redirect_uri, self.scope, self.nonce = payload.redirect_uri, payload.scope, payload.data.get("nonce")
        self.auth_time = int(time.time())

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.auth_time

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class CodeGrant(grants.AuthorizationCodeGrant):
    """The code flow, with codes in memory."""

    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "none"]

    def save_authorization_code(self, code, request):
        CODES[code] = Code(request.payload)

    def query_authorization_code(self, code, client):
        return CODES.get(code)

    def delete_authorization_code(self, authorization_code):
        for code in [code for code, one in CODES.items() if one is authorization_code]:
            del CODES[code]

    def authenticate_user(self, authorization_code):
        return setup["subject"]


class IdToken(OpenIDCode):
    """The ID token."""

    def exists_nonce(self, nonce, request):
        return False

    def resolve_client_private_key(self, client):
        return KEYS[0]

    def get_encode_header(self, client):
        return {"alg": ALGORITHM, "kid": KEYS[0].kid}

    def get_client_claims(self, client):
        return {"iss": issuer, "aud": [setup["client_id"]]}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user, email=setup["email"], email_verified=True)


def create_access_token(client, grant_type, user, scope):
    """Returns a token for the audience of the service, as RFC 9068 has it."""
    now = int(time.time())
    claims = {"iss": issuer, "aud": setup["audience"], "sub": user, "client_id": setup["client_id"], "iat": now, "exp": now + 600,
              "jti": str(time.monotonic_ns()), "scope": scope}
    if setup.get("named"):
        claims["candor_provider"] = setup["named"]
    return jwt.encode({"alg": ALGORITHM, "kid": KEYS[0].kid, "typ": "at+jwt"}, claims, KEYS[0], [ALGORITHM])


app.config["OAUTH2_ACCESS_TOKEN_GENERATOR"] = create_access_token
authorization = AuthorizationServer(app, query_client=lambda client_id: Client() if client_id == setup["client_id"] else None,
                                    save_token=lambda token, request: None)
authorization.register_grant(CodeGrant, [IdToken(require_nonce=False), CodeChallenge(required=True)])


@app.get("/.well-known/openid-configuration")
def describe():
    return jsonify(issuer=issuer, authorization_endpoint=f"{issuer}/authorize", token_endpoint=f"{issuer}/token",
                   jwks_uri=f"{issuer}/keys", response_types_supported=["code"], subject_types_supported=["public"],
                   id_token_signing_alg_values_supported=[ALGORITHM], code_challenge_methods_supported=["S256"],
                   token_endpoint_auth_methods_supported=["client_secret_basic", "none"], scopes_supported=SCOPE.split())


@app.get("/keys")
def list_keys():
    return jsonify(keys=[key.as_dict(private=False) for key in KEYS])


@app.get("/authorize")
def authorize():
    grant = authorization.get_consent_grant(end_user=setup["subject"])
    return authorization.create_authorization_response(request, setup["subject"], grant)


@app.post("/token")
def create_token():
    return authorization.create_token_response()


threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    if line.strip() == "rotate":
        rotate()
    else:
        setup.update(json.loads(line))
    print("done", flush=True)

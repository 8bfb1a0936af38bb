//! Sign-ins at two providers: a state, a code or an ID token of one is refused at the other, and so is an e-mail address
//! in a domain of another organization.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::usecases::operator;

use super::*;
use crate::bearer_tokens;

const EXPIRED: &str = "https://candor.example/console#error=expired";
const REFUSED: &str = "https://candor.example/console#error=provider";
const OTHER_ISSUER: &str = "https://other.okta.example";
const OTHER_SECRET: &str = "other secret";

fn other_key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap()
}

/// Creates a provider of another issuer with this proven domain, which has the client id of the first one, and returns
/// its id.
async fn add_other(world: &TestApi, key: &str, domain: &str) -> String {
    world.providers.serve_issuer(OTHER_ISSUER, &[("1", other_key())]);
    let body = json!({"name": "Other", "issuer": OTHER_ISSUER, "client_id": "0oa1", "client_secret": OTHER_SECRET,
                      "link_by": "verified_email", "email_domains": [domain]});
    let creation = world.bare("POST", PATH).key(key).json(&body).send().await;
    assert_eq!(creation.status, 201, "{}", creation.text());
    let provider = creation.json();
    world.providers.publish(domain, provider["domains"][0]["txt_record"].as_str().unwrap());
    let id = provider["id"].as_str().unwrap().to_owned();
    let check = world.bare("POST", &format!("{PATH}/{id}/check")).key(key).json(&json!({})).send().await;
    assert_eq!(check.json()["proven"], json!([domain]), "{}", check.text());
    id
}

/// Two providers of one organization: that of the stage, and one that an attacker may run.
async fn two_providers(world: &TestApi) -> (Stage, Stage) {
    let honest = Stage::begin(world, json!({})).await;
    let provider = add_other(world, &world.admin, "other.example").await;
    let other = Stage { provider, person: world.employee("ada@other.example").await };
    (honest, other)
}

async fn begin_at(world: &TestApi, stage: &Stage) -> Begun {
    begin(world, json!({"identity_provider_id": stage.provider}), None).await
}

async fn last_cause(world: &TestApi) -> Value {
    audit(world, "session.refuse").await[0]["changes"]["cause"]["to"].clone()
}

#[tokio::test]
async fn state_serves_at_the_callback_of_its_provider_alone() {
    for shared in every_store().await {
        let world = &shared.world;
        let (honest, other) = two_providers(world).await;
        for (own, foreign) in [(&honest, &other), (&other, &honest)] {
            let sign_in = begin_at(world, own).await;
            // A code that is the own one, and its issuer, do not help.
            for issuer in [ISSUER, OTHER_ISSUER] {
                let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de"), ("iss", issuer)];
                let address = foreign.come_back(world, &params, &sign_in.cookie).await;
                assert_eq!(address, EXPIRED, "{} {issuer}", shared.name);
            }
            assert!(world.providers.take_exchanges().is_empty(), "{}: nothing was sent", shared.name);
        }
        // A response at a foreign callback does not use the state up.
        let sign_in = begin_at(world, &honest).await;
        let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de"), ("iss", ISSUER)];
        assert_eq!(other.come_back(world, &params, &sign_in.cookie).await, EXPIRED);
        grant(world, &sign_in, &json!({}));
        let address = honest.come_back(world, &params, &sign_in.cookie).await;
        assert!(address.contains("#code="), "{}: {address}", shared.name);
    }
}

#[tokio::test]
async fn code_of_a_foreign_issuer_is_not_sent() {
    for shared in every_store().await {
        let world = &shared.world;
        let (honest, other) = two_providers(world).await;
        for (stage, foreign) in [(&honest, OTHER_ISSUER), (&other, ISSUER)] {
            let sign_in = begin_at(world, stage).await;
            let own_with_slash = format!("{}/", if foreign == ISSUER { OTHER_ISSUER } else { ISSUER });
            for issuer in [foreign, &own_with_slash, ""] {
                world.clock.advance_millis(1);
                let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de"), ("iss", issuer)];
                let address = stage.come_back(world, &params, &sign_in.cookie).await;
                assert_eq!(address, REFUSED, "{} {issuer:?}", shared.name);
                assert_eq!(last_cause(world).await, "foreign_issuer", "{} {issuer:?}", shared.name);
            }
        }
        assert!(world.providers.take_exchanges().is_empty(), "{}: nothing was sent", shared.name);
    }
}

#[tokio::test]
async fn exchange_sends_nothing_of_another_provider() {
    for shared in every_store().await {
        let world = &shared.world;
        let (honest, other) = two_providers(world).await;
        let (at_honest, at_other) = (begin_at(world, &honest).await, begin_at(world, &other).await);
        // The code of a sign-in at the honest provider, brought to the callback of a provider that does not name itself.
        let params = [("state", at_other.query["state"].as_str()), ("code", "code of the honest provider")];
        assert_eq!(other.come_back(world, &params, &at_other.cookie).await, REFUSED);
        let exchanges = world.providers.take_exchanges();
        let [sent] = exchanges.as_slice() else { panic!("{exchanges:?}") };
        assert_eq!(sent.token_endpoint, format!("{OTHER_ISSUER}/token"), "{}", shared.name);
        assert_eq!(sent.client_secret.as_ref().map(|secret| secret.reveal()), Some(OTHER_SECRET));
        assert_eq!(sent.redirect_uri, format!("https://candor.example{}", other.callback()));
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, sent.code_verifier.reveal().as_bytes()));
        // The honest provider gives no tokens for this verifier.
        assert_eq!(challenge, at_other.query["code_challenge"], "{}", shared.name);
        assert_ne!(challenge, at_honest.query["code_challenge"], "{}", shared.name);
    }
}

#[tokio::test]
async fn id_token_of_another_provider_is_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let (_, other) = two_providers(world).await;
        for (issuer, key, cause) in [
            (ISSUER, signing_key(), "signature"),
            (ISSUER, other_key(), "issuer"),
            (OTHER_ISSUER, signing_key(), "signature"),
        ] {
            world.clock.advance_seconds(1);
            let sign_in = begin_at(world, &other).await;
            let changes = json!({"iss": issuer, "email": "ada@other.example"});
            let token = id_token_by(world, &sign_in, &changes, &key);
            world.providers.grant(json!({"id_token": token, "token_type": "Bearer"}));
            let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de")];
            assert_eq!(other.come_back(world, &params, &sign_in.cookie).await, REFUSED, "{issuer} {cause}");
            assert_eq!(last_cause(world).await, cause, "{} {issuer}", shared.name);
        }
        assert_eq!(world.get("/v1/api-keys?filter[kind]=session").await.json()["data"], json!([]));
    }
}

#[tokio::test]
async fn address_in_a_foreign_domain_is_refused() {
    const FOREIGN: &str = "ada@foreign.example";
    for shared in every_store().await {
        let world = &shared.world;
        let organization = operator::create_organization(&world.services, "Foreign").await.unwrap();
        let key = world.key_of(organization, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let foreign_provider = add_other(world, &key, "foreign.example").await;
        let person = json!({"email": FOREIGN, "first_name": "Ada", "last_name": "Foreign"});
        let person = world.bare("POST", "/v1/employees").key(&key).json(&person).send().await;
        assert_eq!(person.status, 201, "{}", person.text());
        let foreign_links = async || {
            let path = format!("{PATH}/{foreign_provider}/links");
            world.bare("GET", &path).key(&key).send().await.json()["data"].clone()
        };
        // This organization claims the domain too, has a person with the address, and a provider that vouches for it.
        let domains = json!({"email_domains": ["acme.example", "foreign.example"], "audiences": ["api://candor"]});
        let stage = Stage::begin(world, domains).await;
        world.employee(FOREIGN).await;
        let provider = world.get(&stage.path()).await.json();
        assert_eq!(provider["domains"][1]["proven"], false, "{}: {provider}", shared.name);
        assert_eq!(
            world.post(&format!("{}/check", stage.path()), json!({})).await.refusal(),
            (409, "conflict".to_owned())
        );
        let sign_in = begin_at(world, &stage).await;
        grant(world, &sign_in, &json!({"email": FOREIGN}));
        let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de")];
        let address = stage.come_back(world, &params, &sign_in.cookie).await;
        assert_eq!(address, "https://candor.example/console#error=not_linked", "{}", shared.name);
        assert_eq!(last_cause(world).await, "unproven_domain", "{}", shared.name);
        assert_eq!(foreign_links().await, json!([]), "{}", shared.name);
        // The address leads to the provider of its domain, and to none of an organization without that domain.
        let sign_in = begin(world, json!({"email": FOREIGN}), None).await;
        assert!(sign_in.query["redirect_uri"].ends_with(&foreign_provider), "{}", shared.name);
        let body = json!({"email": FOREIGN, "organization_id": world.organization.to_string()});
        let response = world.bare("POST", "/v1/sign-in").json(&body).send().await;
        assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{}", shared.name);
        // A bearer token of this organization with the address is refused too.
        world.providers.publish("foreign.example", "");
        world.post(&format!("{}/check", stage.path()), json!({})).await;
        stage.session(world).await;
        let claims = json!({"azp": "web", "candor_provider": stage.provider});
        let check = json!({"token": bearer_tokens::token(world, claims)});
        let check = world.post(&format!("{}/check", stage.path()), check).await;
        assert!(check.json()["proven"].as_array().unwrap().contains(&json!("api://candor")), "{}", check.text());
        for (email, subject, status) in [(FOREIGN, "00u9", 401), (EMAIL, "00u1", 200)] {
            let claims = json!({"sub": subject, "email": email, "email_verified": true});
            let me = world.bare("GET", "/v1/me").key(&bearer_tokens::token(world, claims)).send().await;
            assert_eq!(me.status, status, "{} {email}: {}", shared.name, me.text());
        }
        assert_eq!(foreign_links().await, json!([]), "{}", shared.name);
    }
}

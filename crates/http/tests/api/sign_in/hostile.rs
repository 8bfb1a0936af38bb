//! Hostile sign-ins, each refused with its reason; the audit log has the cause.

use super::*;

/// Returns changes of the claims of an ID token, each with the reason and the cause of the refusal.
fn tokens() -> Vec<(Value, &'static str, &'static str)> {
    vec![
        (json!({"nonce": "other"}), "provider", "nonce"),
        (json!({"nonce": null}), "provider", "nonce"),
        (json!({"iss": "https://evil.example"}), "provider", "issuer"),
        (json!({"aud": "0oa2"}), "provider", "audience"),
        (json!({"aud": ["0oa1", "0oa2"]}), "provider", "authorized_party"),
        (json!({"azp": "0oa2"}), "provider", "authorized_party"),
        (json!({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}), "provider", "access_token_hash"),
        (json!({"exp": 1}), "provider", "expired"),
        (json!({"iat": 9_999_999_999_i64, "exp": 9_999_999_999_i64}), "provider", "not_yet_valid"),
        (json!({"sub": null}), "provider", "subject"),
        (json!({"cnf": {"jkt": "a"}}), "provider", "confirmation"),
        (json!({"events": {}}), "provider", "event"),
        (json!({"email_verified": false}), "not_linked", "no_claim"),
        (json!({"email_verified": "true"}), "not_linked", "no_claim"),
        (json!({"email": null}), "not_linked", "no_claim"),
        (json!({"email": "ada@other.example"}), "not_linked", "unproven_domain"),
        (json!({"email": "ada@acme.example.evil.example"}), "not_linked", "unproven_domain"),
        (json!({"email": "nobody@acme.example"}), "not_linked", "no_person"),
    ]
}

#[tokio::test]
async fn wrong_token_is_refused_with_its_reason() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = Stage::begin(world, json!({})).await;
        for (changes, reason, cause) in tokens() {
            let (address, _) = stage.sign_in(world, changes.clone()).await;
            assert_eq!(address, format!("https://candor.example/console#error={reason}"), "{changes}");
            let entries = audit(world, "session.refuse").await;
            assert_eq!(entries[0]["changes"]["cause"]["to"], cause, "{} {changes}", shared.name);
            assert_eq!(entries[0]["target"]["id"], stage.provider);
            world.clock.advance_seconds(60);
        }
        assert_eq!(world.get("/v1/api-keys?filter[kind]=session").await.json()["data"], json!([]));
        assert_eq!(world.get(&stage.path()).await.json()["status"], "pending", "nothing is proven");
    }
}

#[tokio::test]
async fn strict_provider_refuses_weak_authentications() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({"required_acr": "phr", "session_lifetime": 300})).await;
    let now = world.clock.now().millis().div_euclid(1_000);
    for (changes, cause) in [
        (json!({"auth_time": now}), "authentication_context"),
        (json!({"acr": "pwd", "auth_time": now}), "authentication_context"),
        (json!({"acr": "phr"}), "authentication_time"),
        (json!({"acr": "phr", "auth_time": now - 400}), "authentication_time"),
    ] {
        stage.sign_in(&world, changes.clone()).await;
        assert_eq!(audit(&world, "session.refuse").await[0]["changes"]["cause"]["to"], cause, "{changes}");
        world.clock.advance_millis(1);
    }
    let (address, _) = stage.sign_in(&world, json!({"acr": "phr", "auth_time": now})).await;
    assert!(address.contains("#code="), "{address}");
}

#[tokio::test]
async fn state_serves_its_browser_once() {
    const EXPIRED: &str = "https://candor.example/console#error=expired";
    for shared in every_store().await {
        let world = &shared.world;
        let stage = Stage::begin(world, json!({})).await;
        let (victim, attacker) =
            (begin(world, json!({"email": EMAIL}), None).await, begin(world, json!({"email": EMAIL}), None).await);
        let state = |begun: &Begun| begun.query["state"].clone();
        let come_back = async |state: &str, cookie: &str| {
            stage.come_back(world, &[("state", state), ("code", "c0de")], cookie).await
        };
        grant(world, &attacker, &json!({}));
        // The sign-in of the attacker in the browser of the victim, without a cookie, and with made-up values.
        assert_eq!(come_back(&state(&attacker), &victim.cookie).await, EXPIRED, "{}", shared.name);
        assert_eq!(come_back(&state(&attacker), "x=y").await, EXPIRED);
        assert_eq!(come_back(&state(&attacker), "__Host-candor_signin=AAAA").await, EXPIRED);
        assert_eq!(come_back("AAAA", &attacker.cookie).await, EXPIRED);
        let other = Stage { provider: "idp_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(), person: String::new() };
        let params = [("state", attacker.query["state"].as_str()), ("code", "c0de")];
        assert_eq!(
            other.come_back(world, &params, &attacker.cookie).await,
            EXPIRED,
            "the path of another provider"
        );
        assert!(world.providers.take_exchanges().is_empty(), "{}: nothing was sent", shared.name);
        // A callback in another browser does not use the state up.
        let address = come_back(&state(&attacker), &attacker.cookie).await;
        assert!(address.contains("#code="), "{}: {address}", shared.name);
        grant(world, &attacker, &json!({}));
        assert_eq!(come_back(&state(&attacker), &attacker.cookie).await, EXPIRED, "used once");
        let foreign = exchange(world, &address, &victim.cookie).await;
        assert_eq!(foreign.refusal(), (404, "not_found".to_owned()), "the code in another browser");
        assert_eq!(exchange(world, &address, "").await.refusal().0, 404);
        assert_eq!(exchange(world, &address, &attacker.cookie).await.status, 200);
        assert_eq!(exchange(world, &address, &attacker.cookie).await.refusal().0, 404, "exchanged once");
        world.clock.advance_seconds(600);
        assert_eq!(come_back(&state(&victim), &victim.cookie).await, EXPIRED, "too old");
    }
}

#[tokio::test]
async fn refused_state_causes_no_further_request_to_the_provider() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = Stage::begin(world, json!({})).await;
        let begun_sign_in = begin(world, json!({"email": EMAIL}), None).await;
        let params = [("state", begun_sign_in.query["state"].as_str()), ("code", "invented")];
        let come_back = || stage.come_back(world, &params, &begun_sign_in.cookie);
        let mut reasons: Vec<_> = futures_util::future::join_all((0..18).map(|_| come_back())).await;
        reasons.sort();
        assert_eq!(world.providers.take_exchanges().len(), 1, "{}", shared.name);
        assert!(reasons.pop().unwrap().ends_with("#error=provider"), "{}", shared.name);
        assert!(reasons.iter().all(|address| address.ends_with("#error=expired")), "{reasons:?}");
        assert!(stage.sign_in(world, json!({})).await.0.contains("#code="), "a new sign-in");
    }
}

#[tokio::test]
async fn cookie_names_the_organization_after_a_sign_in() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = Stage::begin(world, json!({})).await;
        let (address, cookie) = stage.sign_in(world, json!({})).await;
        let exchange_response = exchange(world, &address, &cookie).await;
        let new_cookie = exchange_response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        assert_ne!(new_cookie, cookie, "{}", shared.name);
        // The new cookie is that of the same browser, which needs it once.
        let begun_sign_in = begin(world, json!({"email": EMAIL}), Some(&cookie)).await;
        grant(world, &begun_sign_in, &json!({}));
        let params = [("state", begun_sign_in.query["state"].as_str()), ("code", "c0de")];
        let address = stage.come_back(world, &params, &new_cookie).await;
        let exchange_response = exchange(world, &address, &new_cookie).await;
        assert_eq!(
            (exchange_response.status, exchange_response.header("set-cookie")),
            (200, None),
            "{}",
            shared.name
        );
    }
}

#[tokio::test]
async fn code_of_a_session_lives_a_minute() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({})).await;
    let (address, cookie) = stage.sign_in(&world, json!({})).await;
    world.clock.advance_seconds(60);
    assert_eq!(exchange(&world, &address, &cookie).await.refusal(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn response_of_another_issuer_sends_nothing() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({})).await;
    world.providers.serve_discovery(&json!({"authorization_response_iss_parameter_supported": true}));
    for (params, reason) in [
        (vec![("iss", "https://evil.example"), ("code", "c")], "provider"),
        (vec![("code", "c")], "provider"),
        (vec![("iss", "https://evil.example"), ("error", "access_denied")], "provider"),
        (vec![("iss", ISSUER), ("error", "access_denied")], "denied"),
        (vec![("iss", ISSUER), ("error", "server_error")], "provider"),
        (vec![("iss", ISSUER)], "provider"),
    ] {
        let sign_in = begin(&world, json!({"email": EMAIL}), None).await;
        let params = [vec![("state", sign_in.query["state"].as_str())], params].concat();
        let address = stage.come_back(&world, &params, &sign_in.cookie).await;
        assert_eq!(address, format!("https://candor.example/console#error={reason}"), "{params:?}");
    }
    assert!(world.providers.take_exchanges().is_empty());
}

#[tokio::test]
async fn person_is_linked_by_the_rules_of_first_links() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = Stage::begin(world, json!({})).await;
        let session = stage.session(world).await;
        let refuse_cause = async |changes: Value| {
            world.clock.advance_seconds(60);
            let (address, _) = stage.sign_in(world, changes).await;
            assert_eq!(address, "https://candor.example/console#error=not_linked", "{}", shared.name);
            audit(world, "session.refuse").await[0]["changes"]["cause"]["to"].clone()
        };
        // Another account with the address of a linked person.
        assert_eq!(refuse_cause(json!({"sub": "00u2"})).await, "other_account");
        // A changed address does not move the account.
        let person = format!("/v1/employees/{}", stage.person);
        world.patch(&person, json!({"email": "new@acme.example"})).await;
        assert!(stage.sign_in(world, json!({"email": "x@other.example"})).await.0.contains("#code="));
        // The address of a person who left belongs to another one now.
        world.post(&format!("{person}/deactivate"), json!({})).await;
        assert_eq!(refuse_cause(json!({})).await, "deactivated");
        world.post(&format!("{person}/reactivate"), json!({})).await;
        assert_eq!(refuse_cause(json!({})).await, "needs_admin");
        let key = session["key"].as_str().unwrap();
        assert_eq!(world.bare("GET", "/v1/me").key(key).send().await.status, 401);
        let link = json!({"employee_id": stage.person, "subject": "00u1"});
        assert_eq!(world.post(&format!("{}/links", stage.path()), link).await.status, 200);
        assert!(stage.sign_in(world, json!({})).await.0.contains("#code="), "confirmed by an admin");
    }
}

#[tokio::test]
async fn account_is_not_linked_again_after_its_removal() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        stage.session(world).await;
        let remove = format!("{}/links/{}", stage.path(), stage.person);
        assert_eq!(world.ask("DELETE", &remove).send().await.status, 204, "{what}");
        world.clock.advance_seconds(120);
        let (address, _) = stage.sign_in(world, json!({})).await;
        assert_eq!(address, "https://candor.example/console#error=not_linked", "{what}");
        assert_eq!(audit(world, "session.refuse").await[0]["changes"]["cause"]["to"], "needs_admin", "{what}");
        let (address, _) = stage.sign_in(world, json!({"sub": "00u2"})).await;
        assert!(address.contains("#code="), "{what}: another account of the person, {address}");
        assert_eq!(world.ask("DELETE", &remove).send().await.status, 204, "{what}");
        let link = json!({"employee_id": stage.person, "subject": "00u1"});
        assert_eq!(world.post(&format!("{}/links", stage.path()), link).await.status, 200, "{what}");
        world.clock.advance_seconds(120);
        assert!(stage.sign_in(world, json!({})).await.0.contains("#code="), "{what}: linked by an admin");
    }
}

#[tokio::test]
async fn invitation_for_another_address_is_not_accepted() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let body =
            json!({"email": "bo@acme.example", "first_name": "Bo", "last_name": "Example", "send_invite": true});
        let path = format!("/v1/employees/{}", world.made("/v1/employees", body).await);
        assert_eq!(world.get(&path).await.json()["status"], "pending_invite", "{what}");
        world.clock.advance_seconds(1);
        assert_eq!(world.patch(&path, json!({"email": "eve@acme.example"})).await.status, 200);
        world.clock.advance_seconds(1);
        let claims = || json!({"email": "eve@acme.example"});
        let (address, _) = stage.sign_in(world, claims()).await;
        assert_eq!(address, "https://candor.example/console#error=not_linked", "{what}");
        assert_eq!(audit(world, "session.refuse").await[0]["changes"]["cause"]["to"], "pending_invite", "{what}");
        assert_eq!(world.get(&path).await.json()["status"], "pending_invite", "{what}");
        let invitation = world.post(&format!("{path}/invite"), json!({})).await;
        assert_eq!(invitation.status, 200, "{what}: {}", invitation.text());
        let (address, _) = stage.sign_in(world, claims()).await;
        assert!(address.contains("#code="), "{what}: {address}");
        assert_eq!(world.get(&path).await.json()["status"], "active", "{what}");
    }
}

//! Logouts at the provider, which end the sessions that they name (decision B11).

use std::sync::Arc;

use super::*;
use crate::bearer_tokens::ends::log_out;

#[tokio::test]
async fn logout_ends_the_sessions_of_its_sid_or_all() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let mut peer = shared.instance(7);
        peer.identity_transport = Arc::clone(&world.providers) as _;
        // In the middle of a second: tokens have whole seconds.
        world.clock.advance_millis(400);
        let mut keys = vec![];
        for sid in ["s1", "s2", "s3"] {
            let session = stage.session_of(world, json!({"sid": sid})).await;
            keys.push(session["key"].as_str().unwrap().to_owned());
        }
        let own_statuses = async || {
            let mut statuses = vec![];
            for key in &keys {
                statuses.push(world.bare("GET", "/v1/me").key(key).send().await.status);
            }
            statuses
        };
        let peer_statuses = async || {
            let mut statuses = vec![];
            for key in &keys {
                statuses.push(peer.auth.authenticate(key).await.unwrap().is_some());
            }
            statuses
        };
        assert_eq!((own_statuses().await, peer_statuses().await), (vec![200; 3], vec![true; 3]), "{what}");
        let now = world.clock.now().millis().div_euclid(1_000);
        for (claims, wanted) in [
            (json!({"sid": "s9", "jti": "1"}), [200, 200, 200]),
            (json!({"sid": "s1", "sub": "stranger", "jti": "2"}), [200, 200, 200]),
            (json!({"sid": "s1", "sub": null, "jti": "3"}), [401, 200, 200]),
            (json!({"sid": "s2", "jti": "4"}), [401, 401, 200]),
            (json!({"sub": "stranger", "jti": "5"}), [401, 401, 200]),
            // The clock of the provider may be behind.
            (json!({"jti": "6", "iat": now - 30}), [401, 401, 401]),
        ] {
            let response = log_out(world, &stage.provider, claims.clone()).await;
            assert_eq!(response.status, 200, "{what} {claims}: {}", response.text());
            assert_eq!(own_statuses().await, wanted, "{what} {claims}: here at once");
            world.clock.advance_millis(900);
            assert_eq!(peer_statuses().await, wanted.map(|status| status == 200), "{what} {claims}");
            world.clock.advance_millis(100);
        }
        let later_session = stage.session_of(world, json!({"sid": "s4"})).await;
        let me = world.bare("GET", "/v1/me").key(later_session["key"].as_str().unwrap()).send().await;
        assert_eq!(me.status, 200, "{what}: a later sign-in");
    }
}

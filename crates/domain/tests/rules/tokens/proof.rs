//! Proof of a provider's client id and audiences by a token that an admin sends to the check.

use candor_domain::identity::claims::TokenRules;
use candor_domain::identity::flaw::TokenFlaw;
use serde_json::json;

use super::mint::Mint;
use super::{AUDIENCE, CLIENT, NOW, bearer_claims, id_claims, logout_claims, now, rules, verify, with};

#[test]
fn posted_token_proves_its_audiences_or_the_public_client() {
    let mint = Mint::new();
    let rules_with_client = TokenRules { audiences: vec![CLIENT.to_owned(), AUDIENCE.to_owned()], ..rules() };
    let both = with(bearer_claims(), "aud", json!(["api://candor", AUDIENCE]));
    let table = [
        ("bearer token", bearer_claims(), rules(), true, Ok((false, vec![AUDIENCE]))),
        ("bearer token for two", both, rules(), true, Ok((false, vec![AUDIENCE, "api://candor"]))),
        ("ID token of a public client", id_claims(), rules(), true, Ok((true, vec![]))),
        ("ID token of a confidential client", id_claims(), rules(), false, Ok((false, vec![]))),
        ("ID token, client id listed", id_claims(), rules_with_client.clone(), true, Ok((true, vec![]))),
        ("ID token, listed and confidential", id_claims(), rules_with_client, false, Ok((false, vec![]))),
        ("logout token", logout_claims(), rules(), true, Err(TokenFlaw::Event)),
        ("foreign audience", with(id_claims(), "aud", "other"), rules(), true, Err(TokenFlaw::Audience)),
        ("expired ID token", with(id_claims(), "exp", NOW - 60), rules(), true, Err(TokenFlaw::Expired)),
        ("expired bearer token", with(bearer_claims(), "exp", NOW - 60), rules(), true, Err(TokenFlaw::Expired)),
    ];
    for (name, claims, rules, is_public, wanted) in table {
        let token = verify(&mint, &mint.token("RS256", &claims)).unwrap();
        let proof = token.to_proof(&rules, is_public, now()).map(|proof| (proof.has_client_id, proof.audiences));
        let expected_proof = wanted.map(|(has_client_id, audiences): (bool, Vec<&str>)| {
            (has_client_id, audiences.into_iter().map(str::to_owned).collect())
        });
        assert_eq!(proof, expected_proof, "{name}");
    }
}

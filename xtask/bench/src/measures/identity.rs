//! Tokens of an identity provider against keys, another tenant beside wrong tokens, and sign-ins.

use super::tenants::{LOUD, tail_beside};
use super::*;
use crate::comparison::median;
use candor_test_identity::{DOMAIN, Provider, address_of};

/// Accounts whose tokens take turns, because each has the quota of a usual key.
const ACCOUNTS: usize = 1_000;
/// Number of sign-ins: few are allowed in a minute to one address.
const SIGN_INS: usize = 15;
/// First seed. No other measure has it, so that no request repeats another one.
const SEED: u64 = 110_000;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (provider, account, address) = (Provider::start()?, instance.create_account()?, instance.service.address);
    let (api, organization) = (instance.service.api(&account.key), account.organization.to_string());
    let id = api.create("/v1/identity-providers", &provider.body())?;
    instance.candor.execute(&["identity", "trust", "--org", &organization, "--domain", DOMAIN])?;
    let token = json!({"token": provider.proof_token(&id)});
    api.send("POST", &format!("/v1/identity-providers/{id}/check"), &token)?;
    let (mut by_token, mut by_key) = (vec![], vec![]);
    for number in 0..ACCOUNTS {
        let person = json!({"email": address_of(number), "first_name": "Ada", "last_name": "Example"});
        let path = format!("/v1/employees/{}", api.create("/v1/employees", &person)?);
        by_token.push(Traffic::read(&provider.bearer_token(number), path.clone()));
        by_key.push(path);
    }
    let traffic = [Traffic::any(by_token), Traffic::read_any(&api.key, by_key)];
    let costs = data.compare(instance, &traffic.map(|traffic| instance.contender(traffic, CLIENTS, SEED)))?;
    let cost = costs.median_of_pairs(|one, other| one.cost.unwrap_or_default() / other.cost.unwrap_or_default());
    let wrong: Vec<_> = (0..10_000).map(|number| provider.forged_token(number)).collect();
    let send_wrong = |time, seed| {
        let each = wrong.iter().map(|token| Traffic::read(token, "/v1/me".to_owned()));
        burst(address, &Traffic::any(each.collect()).allow_refusals(), Shape::for_time(LOUD, time, seed)).map(drop)
    };
    let tail = ("p99 of another tenant's reads beside wrong tokens of one address", 1.5);
    let tail = tail_beside(data, instance, tail, SEED + 1_000, send_wrong)?;
    let sign_in = |subject: usize| seconds(|| Ok(provider.sign_in((address, &id), subject, "").map(drop)?));
    let millis = median((0..SIGN_INS).map(sign_in).collect::<Result<Vec<_>>>()?) * 1_000.0;
    let figures = [format!("{SIGN_INS} sign-ins in turn"), String::new()];
    Ok(vec![
        costs.line("Processor time of a GET with a token, against a key", (cost, "×"), Limit::AtMost(1.3)),
        tail,
        Line::new("Sign-in until its key", instance.store, figures, (millis, "ms"), Limit::AtMost(300.0)),
    ])
}

//! URL checks before sending, including address literals.

use candor_domain::attempt_failure::FailureReason::{Forbidden, NotHttps};
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::Verdict::{self, Allowed, Private};
use candor_domain::receiver_url::{ReceiverUrl, Verdict as V};
use candor_domain::ulid::Ulid;
use candor_port_events::{WebhookRequest, WebhookTransport};
use candor_webhooks::{Sender, SenderSettings};

use crate::support::{AMPLE, OK, ORGANIZATION, Receiver, failed, outcome_of, post, sender};

async fn verdict_of(sender: &Sender, url: &str) -> Verdict {
    sender.judge(ORGANIZATION, &ReceiverUrl::parse(url).unwrap_or_else(|flaw| panic!("{url}: {flaw:?}"))).await
}

#[tokio::test]
async fn forbidden_address_is_refused_in_every_spelling() {
    let sender = Sender::new(SenderSettings::default()).unwrap();
    for url in [
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://127.0.0.1.:8443/",
        "https://%31%32%37.0.0.1/",
        "https://\u{ff11}27.0.0.1/",
        "https://0/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://168.63.129.16/",
        "https://[::1]/",
        "https://[::]/",
        "https://[::ffff:9.9.9.9]/",
        "https://[::9.9.9.9]/",
        "https://[64:ff9b::10.0.0.1]/",
        "https://[64:ff9b:1::9.9.9.9]/",
        "https://[2002:909:909::1]/",
        "https://[fd00:ec2::254]/",
        "https://[fe80::1]/",
        "https://localhost/",
    ] {
        assert_eq!(verdict_of(&sender, url).await, Private, "{url}");
        assert_eq!(outcome_of(&sender, post(url, AMPLE)).await, failed(0, Forbidden), "{url}");
    }
}

#[tokio::test]
async fn public_address_may_be_called_over_https_only() {
    let sender = Sender::new(SenderSettings::default()).unwrap();
    for url in
        ["https://9.9.9.9/", "https://9.9.9.9:8443/x", "https://[2620:fe::fe]/", "https://[64:ff9b::9.9.9.9]/"]
    {
        assert_eq!(verdict_of(&sender, url).await, Allowed, "{url}");
    }
    for url in ["http://9.9.9.9/", "http://10.0.0.1/", "ftp://9.9.9.9/", "ws://9.9.9.9/", "http://nobody.invalid/"]
    {
        assert_eq!(verdict_of(&sender, url).await, V::NotHttps, "{url}");
        assert_eq!(outcome_of(&sender, post(url, AMPLE)).await, failed(0, NotHttps), "{url}");
    }
}

#[tokio::test]
async fn only_a_trusted_network_may_be_private_or_plain_http() {
    let receiver = Receiver::answering(OK).await;
    let trusting = sender();
    assert_eq!(verdict_of(&trusting, &receiver.url()).await, Allowed);
    for (url, verdict) in [
        ("https://127.0.0.1/", Allowed),
        ("http://127.255.255.255/", Allowed),
        ("https://[::1]/", Private),
        ("https://10.0.0.1/", Private),
        ("https://[::ffff:127.0.0.1]/", Private),
        ("http://10.0.0.1/", V::NotHttps),
        ("http://9.9.9.9/", V::NotHttps),
    ] {
        assert_eq!(verdict_of(&trusting, url).await, verdict, "{url}");
    }
    let strict = Sender::new(SenderSettings::default()).unwrap();
    assert_eq!(outcome_of(&strict, post(receiver.url(), AMPLE)).await, failed(0, NotHttps));
    assert_eq!(receiver.connections(), 0, "a refused attempt opens no connection");
}

#[tokio::test]
async fn trusted_network_of_an_organization_refuses_another() {
    let receiver = Receiver::answering(OK).await;
    let other = OrganizationId::from_ulid(Ulid(2));
    let trusted_networks = vec![format!("{ORGANIZATION}=127.0.0.0/8").parse().unwrap()];
    let sender = Sender::new(SenderSettings { trusted: trusted_networks, ..SenderSettings::default() }).unwrap();
    let target = ReceiverUrl::parse(&receiver.url()).unwrap();
    for _ in 0..2 {
        assert_eq!(sender.judge(ORGANIZATION, &target).await, Allowed);
        assert_eq!(sender.send(post(receiver.url(), AMPLE)).await.response_status, 200);
        // The sender keeps the connection now, and must not use it for another organization.
        assert_eq!(sender.judge(other, &target).await, V::NotHttps);
        let foreign = WebhookRequest { organization: other, ..post(receiver.url(), AMPLE) };
        assert_eq!(outcome_of(&sender, foreign).await, failed(0, NotHttps));
        let secure = ReceiverUrl::parse("https://127.0.0.1/").unwrap();
        assert_eq!(sender.judge(ORGANIZATION, &secure).await, Allowed);
        assert_eq!(sender.judge(other, &secure).await, Private);
    }
}

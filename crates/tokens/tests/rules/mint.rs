//! The keys of a provider, and tokens signed with them.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

/// Private key of these tests alone: RSA, 2,048 bits, PKCS #8 in base64.
const RSA_KEY: &str = include_str!("rsa_2048.txt");

/// A provider with a key of each type.
pub(super) struct Mint {
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    p384: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
    random: SystemRandom,
}

impl Mint {
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let ecdsa = |algorithm: &'static EcdsaSigningAlgorithm| {
            let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap()
        };
        Self {
            rsa: RsaKeyPair::from_pkcs8(&STANDARD.decode(RSA_KEY.replace('\n', "")).unwrap()).unwrap(),
            p256: ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            p384: ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed25519: Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap(),
            random,
        }
    }

    /// Returns the public keys with the ids `rsa`, `p256`, `p384` and `ed`.
    pub(super) fn key_set(&self) -> String {
        json!({"keys": self.keys()}).to_string()
    }

    pub(super) fn keys(&self) -> Vec<Value> {
        let (n, e) = self.rsa_numbers();
        let point = |pair: &EcdsaKeyPair| {
            let (x, y) = pair.public_key().as_ref()[1..].split_at(pair.public_key().as_ref().len() / 2);
            (encode(x), encode(y))
        };
        let ((x256, y256), (x384, y384)) = (point(&self.p256), point(&self.p384));
        vec![
            json!({"kty": "RSA", "kid": "rsa", "use": "sig", "n": encode(&n), "e": encode(&e)}),
            json!({"kty": "EC", "kid": "p256", "crv": "P-256", "alg": "ES256", "x": x256, "y": y256}),
            json!({"kty": "EC", "kid": "p384", "crv": "P-384", "key_ops": ["verify"], "x": x384, "y": y384}),
            json!({"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": encode(self.ed25519.public_key().as_ref())}),
        ]
    }

    /// Returns modulus and exponent of the RSA key.
    pub(super) fn rsa_numbers(&self) -> (Vec<u8>, Vec<u8>) {
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        (n, e)
    }

    /// Returns a token signed with the algorithm, whose header names the algorithm and its key.
    pub(super) fn token(&self, algorithm: &str, claims: &Value) -> String {
        let id = match algorithm {
            "ES256" => "p256",
            "ES384" => "p384",
            "EdDSA" => "ed",
            _ => "rsa",
        };
        self.sign(algorithm, &json!({"alg": algorithm, "kid": id, "typ": "JWT"}).to_string(), &claims.to_string())
    }

    /// Returns a token with any header and claims, signed with the algorithm.
    pub(super) fn sign(&self, algorithm: &str, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let signature = self.signature(algorithm, message.as_bytes());
        format!("{message}.{}", encode(&signature))
    }

    fn signature(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let rsa = |padding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(padding, &self.random, message, &mut signature).unwrap();
            signature
        };
        match algorithm {
            "RS256" => rsa(&RSA_PKCS1_SHA256),
            "RS384" => rsa(&RSA_PKCS1_SHA384),
            "RS512" => rsa(&RSA_PKCS1_SHA512),
            "PS256" => rsa(&RSA_PSS_SHA256),
            "PS384" => rsa(&RSA_PSS_SHA384),
            "PS512" => rsa(&RSA_PSS_SHA512),
            "ES256" => self.p256.sign(&self.random, message).unwrap().as_ref().to_vec(),
            "ES384" => self.p384.sign(&self.random, message).unwrap().as_ref().to_vec(),
            "EdDSA" => self.ed25519.sign(message).as_ref().to_vec(),
            _ => panic!("no key for {algorithm}"),
        }
    }

    /// Returns the token of an attacker who uses a public key as the secret of an HMAC.
    pub(super) fn hmac_token(key: &[u8], header: &str, claims: &str) -> String {
        let message = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message.as_bytes());
        format!("{message}.{}", encode(tag.as_ref()))
    }
}

pub(super) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

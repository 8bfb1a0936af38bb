//! Algorithms of signatures that are accepted (RFC 7518, RFC 8037). The list is fixed in the service. A token must
//! name one of these algorithms, and the key must fit the named algorithm.

use candor_forms::fields::StringEnum;
use ring::digest::{self, SHA256, SHA384, SHA512};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384,
    RSA_PSS_2048_8192_SHA512, RsaParameters, VerificationAlgorithm,
};
use strum::{IntoStaticStr, VariantArray};

/// An algorithm of signatures with a public key. Algorithms with a shared secret, and `none`, are not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "UPPERCASE")]
pub enum TokenAlgorithm {
    /// RSA, PKCS #1 padding, SHA-256.
    Rs256,
    /// RSA, PKCS #1 padding, SHA-384.
    Rs384,
    /// RSA, PKCS #1 padding, SHA-512.
    Rs512,
    /// RSA, PSS padding, SHA-256.
    Ps256,
    /// RSA, PSS padding, SHA-384.
    Ps384,
    /// RSA, PSS padding, SHA-512.
    Ps512,
    /// ECDSA on the curve P-256, SHA-256.
    Es256,
    /// ECDSA on the curve P-384, SHA-384.
    Es384,
    /// Ed25519.
    #[strum(to_string = "EdDSA")]
    EdDsa,
}

impl StringEnum for TokenAlgorithm {}

/// Type and curve of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    /// RSA.
    Rsa,
    /// The elliptic curve P-256.
    P256,
    /// The elliptic curve P-384.
    P384,
    /// The curve of Ed25519.
    Ed25519,
}

/// Function of the crate `ring` that verifies a signature.
pub(super) enum Verifier {
    /// Takes modulus and exponent.
    Rsa(&'static RsaParameters),
    /// Takes a point of the curve.
    Curve(&'static dyn VerificationAlgorithm),
}

impl TokenAlgorithm {
    /// Returns the type of the keys that sign with this algorithm.
    #[must_use]
    pub const fn key_type(self) -> KeyType {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => KeyType::Rsa,
            Self::Es256 => KeyType::P256,
            Self::Es384 => KeyType::P384,
            Self::EdDsa => KeyType::Ed25519,
        }
    }

    pub(super) fn verifier(self) -> Verifier {
        match self {
            Self::Rs256 => Verifier::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Verifier::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Verifier::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Verifier::Rsa(&RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Verifier::Rsa(&RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Verifier::Rsa(&RSA_PSS_2048_8192_SHA512),
            Self::Es256 => Verifier::Curve(&ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Verifier::Curve(&ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => Verifier::Curve(&ED25519),
        }
    }

    /// Returns the hash function of the algorithm. The claim `at_hash` uses the same function.
    pub(super) fn hash(self) -> &'static digest::Algorithm {
        match self {
            Self::Rs256 | Self::Ps256 | Self::Es256 => &SHA256,
            Self::Rs384 | Self::Ps384 | Self::Es384 => &SHA384,
            Self::Rs512 | Self::Ps512 | Self::EdDsa => &SHA512,
        }
    }
}

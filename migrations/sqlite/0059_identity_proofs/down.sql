DROP TABLE identity_proofs;

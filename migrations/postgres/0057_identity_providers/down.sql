DROP TABLE identity_providers;

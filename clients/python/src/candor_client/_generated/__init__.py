"""Generated code; everything public is exported by `candor_client`."""

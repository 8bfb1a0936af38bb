# Generated requests, whose answers must agree with the OpenAPI document.
# - All checks are on, except where the configuration says otherwise. Named here, they would be on in spite of it.
# - One worker: Python's parser keeps its depth for all threads.
# - Deterministic: a change that breaks nothing cannot fail by chance.
here=$PWD/xtask/schemathesis
export PYTHONPATH="$here" SCHEMATHESIS_HOOKS=schemathesis_hooks SCHEMATHESIS_KEY_ID="$KEY_ID"
cd "$SCRATCH"
exec "$PYTHON/schemathesis" --config-file "$here/schemathesis.toml" run "$CANDOR_URL/v1/openapi.json" \
  --header "Authorization: Bearer $CANDOR_API_KEY" --phases examples,coverage,fuzzing,stateful \
  --max-examples 25 --workers 1 --request-timeout 10 \
  --generation-deterministic --continue-on-failure --suppress-health-check all --no-color

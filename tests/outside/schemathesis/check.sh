# Sends generated requests, whose answers must agree with the OpenAPI document.
# - No `--checks`: all are on by default, and naming them here would override the exceptions in the configuration.
# - One worker: threads share the recursion depth of the Python parser.
# - The gate sends the examples of the document and the values that its schemas name, always the same. With a seed,
#   requests and sequences of requests are drawn as well.
if [ -n "${CANDOR_EXPLORE_SEED:-}" ]; then
  choice="--phases examples,coverage,fuzzing,stateful --max-examples 100 --seed $CANDOR_EXPLORE_SEED"
else
  choice="--phases examples,coverage --generation-deterministic"
fi
here=$PWD/tests/outside/schemathesis
export PYTHONPATH="$here" SCHEMATHESIS_HOOKS=schemathesis_hooks SCHEMATHESIS_KEY_ID="$KEY_ID"
cd "$SCRATCH"
exec "$PYTHON/schemathesis" --config-file "$here/schemathesis.toml" run "$CANDOR_URL/v1/openapi.json" \
  --header "Authorization: Bearer $CANDOR_API_KEY" $choice \
  --workers 1 --request-timeout 10 \
  --continue-on-failure --suppress-health-check all --no-color

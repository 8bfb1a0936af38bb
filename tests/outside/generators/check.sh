# Checks the OpenAPI document with two linters. Then generates clients with three public generators, compiles them,
# and runs a small program with each client against the service.
here=$PWD/tests/outside/generators
document=$PWD/docs/openapi.json

cd "$NODE"
cp "$here"/*.ts "$here/tsconfig.json" "$here/spectral.json" "$document" .
rm -rf openapi-typescript hey-api built
bin=node_modules/.bin
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
# The response to a dry run is used by an extension of its parameter, which this linter does not read.
$bin/redocly lint openapi.json --skip-rule no-unused-components --format json >redocly.json
node -e '
  const { totals, problems } = JSON.parse(require("node:fs").readFileSync("redocly.json"));
  if (totals.errors || totals.warnings) { console.error(problems); process.exit(1); }'
$bin/spectral lint openapi.json --ruleset spectral.json --fail-severity hint --quiet
$bin/openapi-typescript openapi.json --output openapi-typescript/schema.ts >/dev/null
$bin/openapi-ts --input openapi.json --output hey-api --no-log-file >/dev/null
$bin/tsc --project .
for program in openapi-fetch hey-api; do
  node "built/$program.js" "$CANDOR_URL" "$CANDOR_API_KEY"
done

# The generator for Python looks for its formatter in the search path.
export PATH="$PYTHON:$PATH"
made=$PYTHON/../made
rm -rf "$made"
openapi-python-client generate --path "$document" --output-path "$made" >/dev/null
cp "$here/program.py" "$made"
cd "$made"
mypy --no-error-summary program.py candor_client
python program.py "$CANDOR_URL" "$CANDOR_API_KEY"

# Compares the vendored modules with their packages, and checks the types of the console. The types of resources are
# those of the TypeScript client, which are generated from the OpenAPI document, and so are the answers to each path.
# Argument: folder with the packages.
packages=$1
sources=crates/console/web
for pair in preact.mjs:preact/dist/preact.mjs hooks.mjs:preact/hooks/dist/hooks.mjs htm.mjs:htm/dist/htm.mjs; do
  cmp "$sources/vendor/${pair%%:*}" "$packages/node_modules/${pair#*:}"
done
node tests/outside/console/operations.mjs clients/typescript/src/generated/resources.ts \
  clients/python/src/candor_client/resources.py | cmp - "$sources/lib/operations.js"
rm -rf "$packages/console"
cp -r "$sources" "$packages/console"
cp clients/typescript/src/generated/types.ts "$packages/console/types.ts"
node tests/outside/console/gets.mjs docs/openapi.json "$packages/console/gets.ts"
cp tests/outside/console/tsconfig.json "$packages"
(cd "$packages" && node_modules/.bin/tsc --project tsconfig.json)

# Signs a person in through two published OpenID Connect providers, and checks their tokens, their keys and their failures.
cp tests/outside/identity/*.mjs tests/outside/identity/*.py "$NODE"
cd "$NODE"
node check.mjs "$PYTHON/python" "$TARGET/debug/candor" "$SCRATCH"

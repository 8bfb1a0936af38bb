# Reads /docs with a headless Chromium, as a reader does. Pictures of each step stay in the target folder.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
pictures=$TARGET/reference-pictures
mkdir -p "$pictures"
cp tests/outside/reference/read.cjs "$NODE"
cd "$NODE"
if ! node read.cjs "$CANDOR_URL" "$browser" "$pictures"; then
  echo "pictures of each step are in $pictures" >&2
  exit 1
fi
echo "an operation, a guide, samples, search, folded patterns, and 390 pixels; only the service was asked"

# Checks the vendored modules, the types, the languages, and the tasks of people in a headless Chromium. Pictures of each screen stay
# in the target folder.
sh -eu tests/outside/console/types.sh "$NODE"
node tests/outside/console/texts.mjs "$NODE/console"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
pictures=$TARGET/console-pictures
mkdir -p "$pictures"
cp tests/outside/console/*.mjs "$NODE"
cd "$NODE"
if ! node check.mjs "$CANDOR_URL" "$browser" "$pictures"; then
  echo "pictures of each step are in $pictures" >&2
  exit 1
fi
echo "types, languages, tasks, hostile texts, and axe-core on each screen in light and dark at 390 and 1,280 pixels"

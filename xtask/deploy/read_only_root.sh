#!/bin/sh
# Starts the program on a read-only root that contains only the program and its libraries. The user of the program
# owns only the data folder. Then runs the health check, and stops the program:
#   sh read_only_root.sh SCRATCH LISTEN ADMIN_LISTEN BINARY LIBRARY…
# The caller runs this script in a mount namespace (unshare --mount), which removes the root at the end.
set -eu

scratch=$1 listen=$2 admin_listen=$3 binary=$4
shift 4
tree=$scratch/root
mkdir -p "$tree"
mount -t tmpfs -o mode=0755 none "$tree"
mkdir -p "$tree/usr/bin" "$tree/var/lib/candor"
cp "$binary" "$tree/usr/bin/candor"
for library in "$@"; do
  mkdir -p "$tree$(dirname "$library")"
  cp -L "$library" "$tree$library"
done
# Containers have these files too: certificates from the base image, name servers from the container engine.
mkdir -p "$tree/etc/ssl/certs"
cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
echo "nameserver 127.0.0.1" >"$tree/etc/resolv.conf"
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 none "$tree/var/lib/candor"
mount -o remount,ro "$tree"

inside() {
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin CANDOR_LISTEN="$listen" CANDOR_ADMIN_LISTEN="$admin_listen" CANDOR_DATA_DIR=/var/lib/candor \
    CANDOR_LOG_FORMAT=json CANDOR_DRAIN_DELAY=0s \
    setpriv --no-new-privs chroot --userspec=65532:65532 --groups= "$tree" /usr/bin/candor "$@"
}

(inside serve) >"$scratch/serve.log" 2>&1 &
process=$!
fail() {
  echo "$1; its log:" >&2
  cat "$scratch/serve.log" >&2
  kill -9 "$process" 2>/dev/null || true
  exit 1
}

tries=0
until (inside healthcheck) >"$scratch/health" 2>&1; do
  kill -0 "$process" 2>/dev/null || fail "the program has ended"
  tries=$((tries + 1))
  [ "$tries" -lt 200 ] || fail "the program does not become ready: $(cat "$scratch/health")"
  sleep 0.1
done
echo "$(cat "$scratch/health") as $(awk '/^Uid/ { print "user " $2 }' "/proc/$process/status")"
echo "capabilities $(awk '/^CapEff/ { print $2 }' "/proc/$process/status")"
if touch "$tree/usr/bin/x" 2>/dev/null; then fail "the root is not read-only"; fi
kill -TERM "$process"
wait "$process" || fail "the program did not stop with status 0"
if (inside healthcheck --live) >/dev/null 2>&1; then fail "the health check succeeds after the program has ended"; fi
echo "stopped with status 0"

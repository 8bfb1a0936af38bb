#!/bin/sh
# Installs, removes and purges the package on a copy of this machine: sh layer.sh debian SCRATCH PACKAGE
# The copy is an overlay: a layer in memory takes all writes to the machine's root. The caller runs this script in
# a mount namespace (unshare --mount), which removes the layer. `layer.sh true SCRATCH` tests if overlays work.
set -eu

what=$1 scratch=$2
layer=$scratch/layer
mkdir -p "$layer"
mount -t tmpfs -o mode=0755 none "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
[ "$what" = debian ] || exit 0

root=$layer/root
cp "$3" "$root/candor.deb"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
log=$scratch/dpkg.log
fail() {
  echo "$1" >&2
  cat "$log" >&2
  exit 1
}
inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}
as_candor() {
  chroot --userspec=candor:candor "$root" env -i PATH=/usr/bin:/bin candor "$@"
}
mode_of() {
  inside stat --format='%a %U:%G' "$1"
}
same() {
  [ "$1" = "$2" ] || fail "$3: $1, not $2"
}

# This policy keeps the package from starting its service, which would run on the machine itself.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

# `--force-depends` reduces missing dependencies to warnings, because this test has no network to install them.
inside dpkg --install --force-depends /candor.deb >"$log" 2>&1 || fail "the package cannot be installed"
same "$(inside dpkg-query --show --showformat='${db:Status-Abbrev}' candor)" "ii " "the state of the package"
same "$(mode_of /etc/candor/candor.toml)" "640 root:candor" "the settings"
same "$(mode_of /var/lib/candor)" "700 candor:candor" "the data"
inside test -e /etc/systemd/system/multi-user.target.wants/candor.service || fail "the unit is not enabled"
as_candor migrate --config /etc/candor/candor.toml >>"$log" 2>&1 || fail "the settings of the package are not valid"
same "$(mode_of /var/lib/candor/candor.db)" "600 candor:candor" "the database"
settings=$(inside sha256sum /etc/candor/candor.toml)
echo "installed, migrated as its user"

inside sh -c 'echo "# mine" >>/etc/candor/candor.toml'
inside dpkg --install --force-depends /candor.deb >>"$log" 2>&1 || fail "the package cannot be installed again"
inside grep -q '^# mine' /etc/candor/candor.toml || fail "an upgrade overwrites the settings"
[ "$settings" != "$(inside sha256sum /etc/candor/candor.toml)" ] || fail "the settings were not changed"
echo "upgraded with its settings"

inside dpkg --remove candor >>"$log" 2>&1 || fail "the package cannot be removed"
inside test ! -e /usr/bin/candor || fail "the program is still there"
inside test -e /etc/candor/candor.toml || fail "removing the package deletes the settings"
inside dpkg --purge candor >>"$log" 2>&1 || fail "the package cannot be purged"
inside test -e /var/lib/candor/candor.db || fail "purging the package deletes the data"
inside test -e /var/lib/candor/master.key || fail "purging the package deletes the master key"
inside test -e /var/lib/candor/candor.toml || fail "purging the package deletes the settings"
inside test ! -e /etc/candor || fail "purging the package leaves the folder of settings"
inside test ! -e /etc/systemd/system/multi-user.target.wants/candor.service || fail "purging the package leaves the unit enabled"
echo "removed, purged with its data kept"

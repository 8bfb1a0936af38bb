# Runs one temporary server for as long as standard input stays open, then removes every trace of it.
# Standard input is a pipe whose other end only the owning process holds, so the kernel closes it however that process
# ends.
#
# $1: the folder to make for the server   The rest: the program and its arguments
dir=$1
shift
trap '' HUP INT QUIT TERM
mkdir -m 700 "$dir" && cd "$dir" || exit 1
"$@" >"$dir/log" 2>&1 </dev/null &
server=$!
echo "$server"
while read -r _; do :; done
kill -KILL "$server" 2>/dev/null
wait "$server"
rm -rf "$dir"

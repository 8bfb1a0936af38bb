# Runs one temporary PostgreSQL for as long as standard input stays open, then removes every trace of it.
# Standard input is a pipe whose other end only the owning process holds, so the kernel closes it however that process
# ends. The guard leads a process group of its own: a Ctrl-C meant for the owner does not reach the server first.
#
# $1: the folder to make for the server   $2: the folder of the server programs   $3: the superuser's name
# $4: the folder of the primary if this server is to be its standby, otherwise empty
# The rest: settings of the server, each as name=value
dir=$1 bin=$2 superuser=$3 primary=$4
shift 4
for setting; do
  shift
  set -- "$@" -c "$setting"
done

# The guard and its subshells ignore the signal that ends the server: PostgreSQL sets handlers of its own.
trap '' HUP INT QUIT TERM
mkdir -m 700 "$dir" && cd "$dir" || exit 1

serve() {
  "$bin/postgres" -D "$dir/data" -k "$dir" \
    -c listen_addresses= -c max_connections=200 -c wal_level=minimal -c max_wal_senders=0 "$@"
  : >"$dir/stopped"
}

make() {
  if [ -n "$primary" ]; then
    "$bin/pg_basebackup" --no-sync --checkpoint=fast --write-recovery-conf --pgdata="$dir/data" \
      --dbname="host='$primary' user='$superuser' application_name=standby"
  else
    "$bin/initdb" --auth=trust --no-sync --locale=C --encoding=UTF8 --username="$superuser" --pgdata="$dir/data"
  fi
}

(
  make || {
    : >"$dir/stopped"
    exit
  }
  serve "$@"
) >"$dir/log" 2>&1 </dev/null &

while read -r word; do
  case $word in
    # Kills all processes at once: a surviving session could show a commit that is not on the standby yet.
    kill)
      pid=$(head -n 1 "$dir/data/postmaster.pid")
      kill -STOP "$pid"
      kill -KILL $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) "$pid"
      ;;
    # A frozen server does not answer, but the kernel still accepts connections for it.
    freeze | thaw)
      pid=$(head -n 1 "$dir/data/postmaster.pid")
      signal=$([ "$word" = freeze ] && echo STOP || echo CONT)
      kill "-$signal" "$pid" $(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
      ;;
    promote) "$bin/pg_ctl" promote --no-wait --pgdata="$dir/data" >>"$dir/log" 2>&1 </dev/null ;;
    start) (serve "$@") >>"$dir/log" 2>&1 </dev/null & ;;
  esac
done

# A starting program still ignores the signal, so it is repeated until the server has ended.
tries=0
until [ -e "$dir/stopped" ] || [ "$tries" -ge 200 ]; do
  kill -QUIT 0
  tries=$((tries + 1))
  sleep 0.05
done
rm -rf "$dir"
kill -KILL 0

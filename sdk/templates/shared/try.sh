# Checks the driver by the kit, and runs a job with it, on machines that end with this script:
#   hostler-hosts run -- sh try.sh
# shellcheck shell=sh
set -eu
umask 077
driver=$PWD/mycloud.hostler
site=$(mktemp -d)
daemon=
end() {
  if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null; wait "$daemon" || true; fi
  rm -rf "$site"
}
trap end EXIT
trap 'exit 1' INT TERM HUP

member() { sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' "$HOSTLER_HOSTS"; }
settings='{"endpoint": "'$(member endpoint)'"}'
echo '{"token": "'"$(member token)"'"}' >"$site/credentials.json"

# 1. The kit. It exits with 1 if a rule is broken.
cat >"$site/check.json" <<END
{"config": $settings, "credentials": $(cat "$site/credentials.json"), "test_cloud": true,
 "endpoints": ["endpoint"]}
END
hostler driver check "$driver.so" --config "$site/check.json"

# 2. A job. hostlerd takes a driver only from a folder that nobody else can change.
mkdir "$site/drivers"
cp "$driver.so" "$driver.json" "$site/drivers"
cat >"$site/hostler.json" <<END
{"disk_reserve": "1MiB", "driver_path": ["$site/drivers"], "access": {"socket": {"path": "$site/hostler.sock"}},
 "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
 "sets": [{"name": "west", "driver": "mycloud", "list_interval": "1s", "config": $settings,
           "credentials_file": "$site/credentials.json"}],
 "pools": [{"name": "default", "sets": ["west"], "types": ["small"], "max": 2, "idle_timeout": "1s",
            "shutdown_timeout": "1s"}]}
END
hostlerd --config "$site/hostler.json" --state "$site/state" >"$site/log" 2>&1 &
daemon=$!
export HOSTLER_URL="unix://$site/hostler.sock"
for _ in $(seq 100); do
  if [ -S "$site/hostler.sock" ]; then break; fi
  sleep 0.1
done
if ! hostler submit --wait -- echo 'a job that ran on a machine of mycloud'; then
  hostler why "set west" || true
  tail -n 20 "$site/log"
  exit 1
fi

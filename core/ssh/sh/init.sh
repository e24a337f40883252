# shellcheck shell=sh
@FUNCTIONS@
# One function, called on the last line: a script that was cut off does not call it.
hostler_init() {
(
set -eu
umask 077
file=@HOSTLER_SECRET_FILE@
mkdir -p "${file%/*}"
chmod 711 "${file%/*}"
# Before the secret: a host that is proved has the state.
@STATE@
cat > "$file.new" <<'HOSTLER_END'
@SECRET@
HOSTLER_END
mv -f "$file.new" "$file"
@HOST_KEY@
)
}
hostler_init
# shellcheck disable=SC2181  # after || the shell would ignore set -e
[ $? -eq 0 ] || exit 1
@COMMAND@

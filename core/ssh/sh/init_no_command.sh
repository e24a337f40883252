# shellcheck shell=sh
# The state that an image of a used host has.
# shellcheck disable=SC2154  # the script around it has set file
rm -f "${file%/*}/init.status"

#!/bin/sh
# Brings the roster of Muster in line with the export of another system, such as the HR system. For cron:
#
#   15 4 * * *  MUSTER_URL=https://ops.example.com MUSTER_KEY_FILE=/etc/muster/sync.key /opt/muster/deploy/sync/sync-personnel.sh /srv/hr/people.csv hr
#
# Prints one line and ends with 0 if all rows were imported. Otherwise it prints why to standard error, so that cron sends it.
# MUSTER_SYNC_OPTIONS adds parameters, such as `handover_to=manager&max_leaving=10`.
set -eu

file=${1:?usage: sync-personnel.sh FILE [SOURCE]}
source=${2:-hr}
: "${MUSTER_URL:?Set MUSTER_URL to the address of the service.}"
: "${MUSTER_KEY_FILE:?Set MUSTER_KEY_FILE to a file with a key that has personnel.manage.}"

# An export that failed or was not made leaves an empty or an old file, which says nothing about who has left.
[ -s "$file" ] || { echo "$file is missing or empty." >&2; exit 1; }
[ -z "$(find "$file" -mtime +0)" ] || { echo "$file is older than a day." >&2; exit 1; }

# Percent-encoded, byte by byte: a name may have spaces and signs.
encoded=$(printf '%s' "$source" | od -An -v -tx1 | tr -s ' \n' '%%' | sed 's/%$//')
url="$MUSTER_URL/v1/personnel/import?mode=sync&source=$encoded&results=changed${MUSTER_SYNC_OPTIONS:+&$MUSTER_SYNC_OPTIONS}"
# The key is passed in a header from standard input, so that it is in no list of processes.
response=$(printf 'Authorization: Bearer %s\n' "$(cat "$MUSTER_KEY_FILE")" |
  curl -sS --retry 3 --max-time 600 -H @- -F "file=@\"$(printf '%s' "$file" | sed 's/[\\"]/\\&/g')\"" -w '\n%{http_code}' "$url")
status=${response##*
}
body=${response%
*}
count() { printf '%s' "$body" | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d: -f2; }

if [ "$status" != 200 ]; then
  printf '%s\n' "$body" >&2
  exit 1
fi
left=$(printf '%s' "$body" | sed -n 's/.*"leavers":\(\[[^]]*\]\).*/\1/p' | grep -o '"id":' | wc -l | tr -d ' ')
echo "$source: $(count rows) rows, $(count created) created, $(count updated) updated, $left left, $(count failed) failed."
if [ "$(count failed)" != 0 ]; then
  printf '%s\n' "$body" >&2
  exit 1
fi

#!/bin/sh
# A session with a rehome service, with curl alone: add, add once, list, next page, get, and three refusals.
#
#   API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... sh examples/session.sh
set -eu

url=${API_URL:-http://127.0.0.1:8080/v1}
auth="Authorization: Bearer ${API_KEY:?is not set: it is the API key}"
json='Content-Type: application/json'

echo '# Add two animals. The answer is 201 and the animal with its id.'
curl -sS -i "$url/pets" -H "$auth" -H "$json" -d '{"name":"Rex","categoryId":1,"status":"available"}'
echo
curl -sS "$url/pets" -H "$auth" -H "$json" -d '{"name":"Mia","categoryId":9223372036854775807}'
echo

echo '# Send one twice, as after an answer that was lost: the same Idempotency-Key adds nothing more.'
once="Idempotency-Key: session-$$-$(date +%s)"
for _ in 1 2; do
  curl -sS -i "$url/pets" -H "$auth" -H "$json" -H "$once" -d '{"name":"Shadow","categoryId":1}'
  echo
done

echo '# List one animal. Where there are more, Link says where they are.'
page=$(curl -sS -i "$url/pets?limit=1" -H "$auth")
echo "$page"

echo '# Go there.'
next=$(echo "$page" | tr -d '\r' | sed -n 's/^[Ll]ink: <\([^>]*\)>; rel="next"$/\1/p')
curl -sS "$next" -H "$auth"
echo

echo '# Get the first one, by the operation that is deprecated.'
first=$(echo "$page" | sed -n 's/^\[{"id":\([0-9]*\).*/\1/p')
curl -sS -i "$url/pets/$first" -H "$auth"
echo

echo '# Refused: no key, a field that is missing, a limit that is too large.'
curl -sS "$url/pets"
echo
curl -sS "$url/pets" -H "$auth" -H "$json" -d '{"name":"Rex"}'
echo
curl -sS "$url/pets?limit=1000" -H "$auth"
echo

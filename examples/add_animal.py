"""Adds one animal to a rehome service, once, whatever becomes of the answers.

    API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... python3 examples/add_animal.py NAME CATEGORY [STATUS]

Needs Python 3.8 or later and nothing else.
"""

import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request
import uuid

BASE_URL = os.environ.get("API_URL", "http://127.0.0.1:8080/v1")
KEY = os.environ.get("API_KEY", "")
ATTEMPTS_MAX = 6
FIRST_WAIT_SECONDS = 1


def add(animal):
    """Sends the animal until there is an answer. All attempts have one Idempotency-Key, so it is stored once."""
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
    body = json.dumps(animal).encode()
    for attempt in range(ATTEMPTS_MAX):
        request = urllib.request.Request(f"{BASE_URL}/pets", data=body, headers=headers)
        told = 0
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as answer:
            error = json.load(answer)
            problem = f"{error['code']}: {error['message']}"
            if answer.code not in (429, 503):
                sys.exit(f"Error: {problem}")
            told = int(answer.headers.get("Retry-After", 0))
        except (urllib.error.URLError, ConnectionError) as error:
            problem = str(error)
        if attempt + 1 < ATTEMPTS_MAX:
            # A little at random, so that programs that were refused together do not come back together.
            wait = max(told, FIRST_WAIT_SECONDS * 2**attempt) * random.uniform(1, 1.1)
            print(f"{problem} Waiting {wait:.0f} s.", file=sys.stderr)
            time.sleep(wait)
    sys.exit(f"Error: {problem}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or not re.fullmatch(r"-?\d+", sys.argv[2]):
        sys.exit("Error: give a name, the number of a category, and a status if there is one.")
    pet = {"name": sys.argv[1], "categoryId": int(sys.argv[2])}
    if len(sys.argv) == 4:
        pet["status"] = sys.argv[3]
    print(json.dumps(add(pet), ensure_ascii=False))

"""Prints every animal of a rehome service, one line each, page by page.

    API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... python3 examples/all_animals.py [status]

Needs Python 3.8 or later and nothing else. Python's integers are exact, whatever their size.
"""

import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("API_URL", "http://127.0.0.1:8080/v1")
KEY = os.environ.get("API_KEY", "")
ATTEMPTS_MAX = 6
FIRST_WAIT_SECONDS = 1


class Refused(Exception):
    """What the service said when it did not do what it was asked."""


def get(url):
    """GETs an address. After 429 or 503 it waits as long as it is told, and longer each time; then it gives up."""
    for attempt in range(ATTEMPTS_MAX):
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer), answer.headers.get("Link", "")
        except urllib.error.HTTPError as answer:
            error = json.load(answer)
            if answer.code not in (429, 503) or attempt + 1 == ATTEMPTS_MAX:
                raise Refused(f"{error['code']}: {error['message']}") from None
            told = int(answer.headers.get("Retry-After", 0))
            backoff = FIRST_WAIT_SECONDS * 2**attempt
            # A little at random, so that programs that were refused together do not come back together.
            wait = max(told, backoff) * random.uniform(1, 1.1)
            print(f"{error['message']} Waiting {wait:.0f} s.", file=sys.stderr)
            time.sleep(wait)


def all_animals(status=None):
    """Every animal, in ascending order of the ids, in as few requests as there are pages."""
    query = {"limit": 100}
    if status is not None:
        query["status"] = status
    url = f"{BASE_URL}/pets?{urllib.parse.urlencode(query)}"
    while url:
        animals, link = get(url)
        yield from animals
        found = re.search(r'<([^>]*)>;\s*rel="next"', link)
        url = found and found.group(1)


if __name__ == "__main__":
    try:
        for animal in all_animals(*sys.argv[1:2]):
            print(animal["id"], animal["name"], animal["categoryId"], animal.get("status", "-"), sep="\t")
    except (Refused, urllib.error.URLError) as error:
        sys.exit(f"Error: {error}")

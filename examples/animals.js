/**
 * Shows the animals of a rehome service on a page of your own, where you put this:
 *
 *   <ul id="animals"><li>Please call us: 512 555 0100</li></ul>
 *   <script src="animals.js" data-api="https://pets.example.org/v1" data-key="rehome_live_..." async></script>
 *
 * Every visitor can read the key there: docs/website.md says which key that may be. What stands in the list stays where the
 * service does not answer.
 */
(async ({ api, key, status = "available", list = "#animals", max = "300" }) => {
  const attemptsMax = 4;
  const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

  /** GETs an address, and once more after 429 or 503, when the service says that it makes sense. */
  async function get(url) {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      if (answer.ok) return answer;
      const mayPass = answer.status === 429 || answer.status === 503;
      if (!mayPass || attempt === attemptsMax) throw new Error((await answer.json()).message);
      await sleep(Number(answer.headers.get("retry-after") ?? attempt));
    }
  }

  const items = [];
  let next = `${api}/pets?limit=100&status=${status}`;
  while (next !== undefined && items.length < Number(max)) {
    const answer = await get(next);
    for (const { name, status: state } of await answer.json()) {
      const item = document.createElement("li");
      // As text: the name of an animal cannot put HTML into your page.
      item.textContent = name;
      item.dataset.status = state ?? "";
      items.push(item);
    }
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  document.querySelector(list)?.replaceChildren(...items.slice(0, Number(max)));
})(document.currentScript.dataset).catch((error) => console.error("rehome:", error.message));

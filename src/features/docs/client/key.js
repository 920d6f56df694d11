/** The field for the API key. */
const input = document.getElementById("key");

/** The key as it is sent: `Bearer ` and space around it are no part of it. */
export const currentKey = () => cleaned(input.value);

/** A key as people paste it, with the scheme or the whole header before it. */
function cleaned(text) {
  return text
    .trim()
    .replace(/^["']|["']$/g, "")
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .trim();
}

export function startKey() {
  const show = document.getElementById("show-key");
  show.addEventListener("click", () => {
    const isShown = input.type === "password";
    input.type = isShown ? "text" : "password";
    show.textContent = isShown ? "Hide" : "Show";
    show.setAttribute("aria-pressed", String(isShown));
  });
  input.addEventListener("input", () => {
    const key = cleaned(input.value);
    // A space at the end may be one that somebody is typing.
    if (key !== input.value.trim()) input.value = key;
    document.documentElement.classList.toggle("has-key", key !== "");
  });
  input.form.addEventListener("submit", (event) => event.preventDefault());
}

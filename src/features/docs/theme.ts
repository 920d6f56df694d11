import { html } from "./html.ts";

/** The choice between light, dark and the system; `client/theme.js` makes it work. */
export const themeChoice = html`<form class="theme live" autocomplete="off">
  <label class="unseen" for="theme">Theme</label>
  <select id="theme">
    <option value="">Theme: system</option>
    <option value="light">Theme: light</option>
    <option value="dark">Theme: dark</option>
  </select>
</form>`;

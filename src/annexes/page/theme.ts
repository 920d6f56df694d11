import { html } from "./html.ts";

/**
 * The choice between light, dark and what the system says; `client/theme.js` makes it work and
 * keeps it.
 */
export const themeChoice = html`<form class="theme live" autocomplete="off">
  <label class="unseen" for="theme">Theme</label>
  <select id="theme">
    <option value="">Theme: system</option>
    <option value="light">Theme: light</option>
    <option value="dark">Theme: dark</option>
  </select>
</form>`;

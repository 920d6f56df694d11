import { expect, test } from "bun:test";
import { withVariables } from "../../../../src/annexes/operate/systemd/settings-file.ts";

const port = new Map([["REHOME_PORT", "9000"]]);

test.each([
  [
    "the line that sets it",
    "REHOME_PORT=80\nREHOME_BANS=off\n",
    "REHOME_PORT=9000\nREHOME_BANS=off\n",
  ],
  ["the last of them", "REHOME_PORT=1\nREHOME_PORT=2\n", "REHOME_PORT=1\nREHOME_PORT=9000\n"],
  ["the comment that shows it", "# ours\n#REHOME_PORT=8080\n", "# ours\nREHOME_PORT=9000\n"],
  ["no other comment", "# REHOME_PORTS\n", "# REHOME_PORTS\nREHOME_PORT=9000\n"],
  ["the end", "REHOME_PORT_X=1", "REHOME_PORT_X=1\nREHOME_PORT=9000\n"],
])("a variable takes the place of %s", (_, before, after) => {
  expect(withVariables(before, port)).toBe(after);
});

test("nothing to set changes nothing", () => {
  expect(withVariables("#REHOME_PORT=8080\n", new Map())).toBe("#REHOME_PORT=8080\n");
});

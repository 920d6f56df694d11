import type { Command } from "commander";
import { settings, variableOf, type LoadedConfig, type SettingName } from "../../../config.ts";
import { systemClock } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { findingStates, type Finding } from "./finding.ts";
import { printJson, json, type Static } from "../../json.ts";
import type { Io } from "../../../cli/io.ts";
import { storeAddress } from "../../../cli/open.ts";
import { beginOnStore, commandOf } from "../../command.ts";
import { addSettings } from "../../options.ts";
import { stylesOf, pad } from "../../table.ts";
import { counted, printable } from "../../../cli/terminal/text.ts";
import { askedServer, checkCertificate, checkSecrets, checkServer } from "./server.ts";
import { examineDatabase, examineFolder } from "./store.ts";

export const doctorSchema = json.object({
  state: json.oneOf(findingStates, "the worst state of all checks"),
  checks: json.list(
    json.object({
      check: json.text("name of the check"),
      state: json.oneOf(findingStates, "ok, warn (a problem later) or fail (a problem now)"),
      detail: json.text("what was found"),
      advice: json.orNull(json.text("what to do about it")),
    }),
  ),
});

export function doctorCommand(io: Io): Command {
  const command = commandOf({
    name: "doctor",
    about: "check folder, databases, disk, backups, sources, clock, permissions and server",
    remark: `It changes nothing, and you can run it while the service runs. The exit code is 0 if
no check failed (warnings included), else 1.`,
    examples: [
      "rehome doctor",
      "rehome doctor --data /var/lib/rehome --port 80",
      `rehome doctor --json | jq -r '.checks[] | select(.state != "ok").detail'`,
    ],
    json: doctorSchema,
  });
  addSettings(command, ["data", "store", "storeFile", "storeTimeoutMs", "host", "port"], {
    ...askedServer,
    storeTimeoutMs: "how long the database may take to answer, in ms",
  });
  return command.action(async (options: { json?: true }) => {
    const checks = await examine(beginOnStore(command, io), io);
    const has = (wanted: Finding["state"]) => checks.filter(({ state }) => state === wanted);
    const state = findingStates.findLast((each) => has(each).length > 0) ?? "ok";
    if (options.json) printJson(io, { state, checks } satisfies Static<typeof doctorSchema>);
    else printFindings(io, checks);
    if (state === "fail") {
      throw new AppError("unavailable", `${counted(has("fail").length, "check")} failed.`);
    }
  });
}

async function examine(loaded: LoadedConfig, io: Io): Promise<Finding[]> {
  const { config } = loaded;
  const server = await checkServer(config);
  const address = await storeAddress(config);
  const store =
    address === undefined
      ? await examineFolder(loaded, whyOf("data", loaded), systemClock(), io)
      : await examineDatabase(
          address,
          whyOf(config.store === undefined ? "storeFile" : "store", loaded),
          config.storeTimeoutMs,
          systemClock,
        );
  const certificate = await checkCertificate(config, systemClock());
  return [...store, ...certificate, ...checkSecrets(loaded), server];
}

/** Where the value of a setting comes from, in words. */
function whyOf(name: SettingName, { loadedOf, service }: LoadedConfig): string {
  const { source } = loadedOf(settings[name]);
  if (source === "flag") return `--${settings[name].flag}`;
  if (source === "environment") return variableOf(settings[name]);
  if (source === "service") return `${variableOf(settings[name])} in ${service?.file}`;
  return "default";
}

function printFindings(io: Io, findings: readonly Finding[]): void {
  const { green, yellow, red, dim } = stylesOf(io);
  const paint = { ok: green, warn: yellow, fail: red };
  const checkCells = Math.max(...findings.map(({ check }) => check.length));
  const stateCells = Math.max(...findingStates.map((state) => state.length));
  for (const { check, state, detail, advice } of findings) {
    const mark = paint[state](pad(state, stateCells));
    io.out(`${mark}  ${pad(check, checkCells)}  ${printable(detail)}\n`);
    if (advice === null) continue;
    io.out(`${" ".repeat(stateCells + checkCells + 4)}${dim("->")} ${printable(advice)}\n`);
  }
}

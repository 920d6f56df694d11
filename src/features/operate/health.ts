import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { askedServer, checkServer } from "./doctor/server.ts";
import { announce, type Io } from "../../cli/io.ts";
import { beginWithoutStore, commandOf } from "../command.ts";
import { addSettings, durationOption } from "../options.ts";

const pauseMs = 100;
/** How long the last request may take at least: a shorter one would hide what was wrong before. */
const leastMs = 500;

/** True when systemd waits with this command for a service that has ended. */
function isForNothing({ MAINPID }: Io["env"]): boolean {
  if (MAINPID === undefined) return false;
  try {
    return !process.kill(Number(MAINPID), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

export function healthCommand(io: Io): Command {
  const command = commandOf({
    name: "health",
    about: "check whether the server is ready: exit code 0 or 1, for monitors and containers",
    options: [
      durationOption("--wait <DURATION>", "repeat until it is ready, for at most this long"),
    ],
    examples: ["rehome health", "rehome health --port 9000 --wait 30s"],
  });
  return addSettings(command, ["host", "port"], askedServer).action(
    async ({ wait: waitMs }: { wait?: number }) => {
      const { config } = beginWithoutStore(command, io);
      const deadlineMs = performance.now() + (waitMs ?? 0);
      for (;;) {
        const leftMs = Math.max(leastMs, deadlineMs - performance.now());
        const { state, detail } = await checkServer(config, waitMs === undefined ? waitMs : leftMs);
        // Monitors ask for the exit code.
        if (state === "ok") return await announce(io, `The server ${detail}.\n`);
        if (performance.now() >= deadlineMs || isForNothing(io.env)) {
          throw new AppError(
            "unavailable",
            `The server is not ready: ${detail.replace(/\.$/, "")}.`,
            { hint: "rehome doctor" },
          );
        }
        await Bun.sleep(pauseMs);
      }
    },
  );
}

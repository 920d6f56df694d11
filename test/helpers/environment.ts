/** Loaded before every test: one seed, and no settings of the account that no test is about. */
import * as fc from "fast-check";

/**
 * Random tests do the same in each run, so that a red one is red for everybody. The long run draws
 * a new seed, prints it, and names it here. fast-check prints it, and the shrunk case, too.
 */
const testSeed = Number(process.env["TEST_SEED"] ?? 20_261_121);
fc.configureGlobal({ seed: testSeed });

// No proxy of the network is asked for servers of this machine.
const own = "127.0.0.1,[::1],::1,localhost";
for (const name of ["NO_PROXY", "no_proxy"]) {
  const others = process.env[name];
  process.env[name] = others ? `${others},${own}` : own;
}
// Other accounts, such as that of a database server, read what the tests write for them.
process.umask(0o022);

/** Loaded before every test: undoes settings of the account that no test is about. */

// No proxy of the network is asked for servers of this machine.
const own = "127.0.0.1,[::1],::1,localhost";
for (const name of ["NO_PROXY", "no_proxy"]) {
  const others = process.env[name];
  process.env[name] = others ? `${others},${own}` : own;
}
// Other accounts, such as that of a database server, read what the tests write for them.
process.umask(0o022);

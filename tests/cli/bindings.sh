#!/bin/sh
# The packages for node and Python: what they say of a command is what it did.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
HOME=$tmp/home
export HOME SBXRUN SBXC
mkdir -p "$HOME/notes" "$tmp/app"
echo friday >"$HOME/notes/plan"
cd "$tmp/app" || exit 99
"$SBXC" build -o "$tmp/coding.bin" @coding

# What a command could leave for the next run, first in PATH.
mkdir "$tmp/app/bin"
printf '#!/bin/sh\ntouch "%s"\n' "$tmp/escaped" >"$tmp/app/bin/sbxrun"
chmod +x "$tmp/app/bin/sbxrun"

# A line for each question, as both languages answer it.
cat >"$tmp/expected" <<'END'
status: 7 out err
input: given
denied: read ~/notes/plan allow read ~/notes/plan
signal: KILL
late: true
refused: no such workspace
missing: 127
own 125: 125
why: false
fresh: no
shared: yes
at once: 1 2 3 4
closed
ended early: true
planted: lies in the workspace
END

cat >"$tmp/ask.js" <<'END'
const { Sandbox, why } = require(process.argv[2]);
const policy = process.argv[3], sbxrun = process.env.SBXRUN;
const say = console.log;
(async () => {
  const one = await Sandbox.open({ policy, sbxrun });
  let r = await one.run("echo out; echo err >&2; exit 7");
  say("status:", r.exitCode, r.stdout.trim(), r.stderr.trim());
  r = await one.run(["cat"], { input: "given" });
  say("input:", r.stdout);
  r = await one.run(["cat", `${process.env.HOME}/notes/plan`]);
  say("denied:", r.denials[0].right,
    r.denials[0].object.replace(process.env.HOME, "~"), r.denials[0].fix[0]);
  r = await one.run("kill -9 $$");
  say("signal:", r.signal.slice(3));
  r = await one.run("sleep 60", { timeout: 1000 });
  say("late:", r.timedOut);
  await (await Sandbox.open({ policy, sbxrun, workspace: "/nowhere" }))
    .run("true").catch((e) => say("refused:", /no such workspace/.exec(e.message)[0]));
  say("missing:", (await one.run(["nosuch"])).exitCode);
  say("own 125:", (await one.run("exit 125")).exitCode);
  say("why:", (await why(policy, ["read", "~/.ssh/id"],
    { sbxc: process.env.SBXC })).allowed);
  await one.run("touch $XDG_RUNTIME_DIR/x /dev/shm/mine");
  say("fresh:", (await one.run("test -e /dev/shm/mine && echo yes || echo no")).stdout.trim());
  const kept = await Sandbox.open({ policy, sbxrun, session: true });
  await kept.run("touch /dev/shm/mine");
  say("shared:", (await kept.run("test -e /dev/shm/mine && echo yes || echo no")).stdout.trim());
  const many = await Promise.all([1, 2, 3, 4].map((n) => kept.run(`exit ${n}`)));
  say("at once:", ...many.map((m) => m.exitCode));
  await kept.close();
  await kept.close();
  say("closed");
  const stop = new AbortController();
  const { done } = one.spawn("echo; exec sleep 60",
    { signal: stop.signal, onStdout: () => stop.abort() });
  r = await done;
  say("ended early:", r.exitCode !== 0);
  process.env.PATH = `${process.cwd()}/bin:${process.env.PATH}`;
  await Sandbox.open({ policy }).then((s) => s.run("true"))
    .catch((e) => say("planted:", /lies in the workspace/.exec(e.message)[0]));
})().catch((e) => { console.error(e); process.exit(1); });
END

cat >"$tmp/ask.py" <<'END'
import asyncio, os, signal, sys
import sbx
policy, run = sys.argv[1], os.environ["SBXRUN"]
home = os.environ["HOME"]
one = sbx.Sandbox(policy, sbxrun=run)
r = one.run("echo out; echo err >&2; exit 7")
print("status:", r.returncode, r.stdout.strip(), r.stderr.strip())
print("input:", one.run(["cat"], input="given").stdout)
d = one.run(["cat", home + "/notes/plan"]).denials[0]
print("denied:", d["right"], d["object"].replace(home, "~"), d["fix"][0])
print("signal:", signal.Signals(-one.run("kill -9 $$").returncode).name[3:])
print("late:", str(one.run("sleep 60", timeout=1).timed_out).lower())
try:
    sbx.Sandbox(policy, sbxrun=run, workspace="/nowhere").run("true")
except sbx.SandboxError as error:
    print("refused:", "no such workspace" if "no such workspace" in str(error)
          else error)
print("missing:", one.run(["nosuch"]).returncode)
print("own 125:", one.run("exit 125").returncode)
print("why:", str(sbx.why(policy, "read", "~/.ssh/id",
                          sbxc=os.environ["SBXC"])[0]).lower())
look = "test -e /dev/shm/mine && echo yes || echo no"
one.run("touch /dev/shm/mine")
print("fresh:", one.run(look).stdout.strip())
with sbx.Sandbox(policy, sbxrun=run, session=True) as kept:
    kept.run("touch /dev/shm/mine")
    print("shared:", kept.run(look).stdout.strip())
    async def many():
        return await asyncio.gather(*(kept.arun(f"exit {n}")
                                      for n in (1, 2, 3, 4)))
    print("at once:", *(m.returncode for m in asyncio.run(many())))
print("closed")

async def late():
    try:
        await asyncio.wait_for(one.arun("sleep 60"), 1)
    except asyncio.TimeoutError:
        return True
print("ended early:", str(asyncio.run(late())).lower())
os.environ["PATH"] = os.getcwd() + "/bin:" + os.environ["PATH"]
try:
    sbx.Sandbox(policy).run("true")
except sbx.SandboxError as error:
    print("planted:", "lies in the workspace"
          if "lies in the workspace" in str(error) else error)
END

# answers NAME COMMAND...: the same of all.
answers()
{
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		tap_skip "$name" "$1 is not installed"
		return
	fi
	"$@" >"$tmp/said" 2>"$tmp/err"
	tap_is "$name: it ends well" 0 $?
	tap_empty "$name: each answer" \
	    "$(diff -u "$tmp/expected" "$tmp/said"; cat "$tmp/err")"
}
answers node node "$tmp/ask.js" "$srcdir/packaging/npm/index.js" "$tmp/coding.bin"
PYTHONPATH=$srcdir/packaging/python PYTHONDONTWRITEBYTECODE=1 \
    answers python python3 "$tmp/ask.py" "$tmp/coding.bin"
tap_is "what a command left in PATH was not started" no \
    "$([ -e "$tmp/escaped" ] && echo yes || echo no)"
# A program of sandbox-runtime's, and its command line.
cat >"$tmp/srt.js" <<'END'
const { SandboxManager } = require(process.argv[2]);
const { spawnSync } = require("child_process");
(async () => {
  await SandboxManager.initialize({ network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: ["~/notes"], allowWrite: ["."], denyWrite: [".env"] } });
  for (const command of ["echo in >made; cat made; exit 7", "cat ~/notes/plan",
    "echo >.env", "echo >~/outside"]) {
    const { status, stdout } = spawnSync(await SandboxManager
      .wrapWithSandbox(command), { shell: true, encoding: "utf8" });
    console.log(status, stdout.trim() + SandboxManager
      .annotateStderrWithSandboxFailures(command, "").split("\n").slice(2, 3)
      .join().replaceAll(process.env.HOME, "~"));
  }
  await SandboxManager.reset();
})();
END
if command -v node >/dev/null; then
	touch "$tmp/app/.env"
	PATH=$(dirname "$SBXRUN"):$(dirname "$SBXC"):$PATH
	tap_is "sandbox-runtime: a program of it runs on sbx" "7 in
1 deny read ~/notes/plan
1 deny write $tmp/app/.env
1 deny write ~/outside" "$(node "$tmp/srt.js" \
	    "$srcdir/packaging/npm/sandbox-runtime.js" 2>&1)"
	echo '{ "filesystem": { "denyWrite"' >"$tmp/wrong.json"
	node "$srcdir/packaging/npm/srt.js" sh -c 'echo >"$HOME/x"; exit 3' 2>"$tmp/err"
	tap_is "srt: the command's own status" 3 $?
	node "$srcdir/packaging/npm/srt.js" -s "$tmp/wrong.json" true 2>"$tmp/err"
	tap_is "srt: wrong settings are refused" "125 1" \
	    "$? $(grep -c '^srt: .*JSON' "$tmp/err")"
else
	tap_skip "sandbox-runtime" "node is not installed"
fi
tap_done

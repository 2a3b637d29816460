// Becomes, as far as node can, the program for this machine: its status and its
// signal are handed on.
"use strict";
const { spawnSync } = require("child_process");
const { constants } = require("os");
const path = require("path");

module.exports = function (program) {
  const name = `sbx-${process.platform}-${process.arch}`;
  let directory;
  try {
    directory = path.dirname(require.resolve(`${name}/package.json`));
  } catch {
    console.error(`${program}: there is no package ${name}: sbx runs on Linux, ` +
      "on x64 and arm64; was npm told to leave optional packages out?");
    process.exit(125);
  }
  const ran = spawnSync(path.join(directory, "bin", program),
    process.argv.slice(2), { stdio: "inherit" });
  if (ran.error) {
    console.error(`${program}: ${ran.error.message}`);
    process.exit(125);
  }
  process.exit(ran.signal ? 128 + constants.signals[ran.signal] : ran.status);
};

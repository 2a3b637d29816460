// Becomes, as far as node can, the program for this machine: its status and its
// signal are handed on.
"use strict";
const { spawnSync } = require("child_process");
const { constants } = require("os");
const fs = require("fs");
const path = require("path");

// Where the package with the programs for this machine is, or undefined.
function packaged() {
  try {
    return path.dirname(require.resolve(
      `sbx-${process.platform}-${process.arch}/package.json`));
  } catch {
    return undefined;
  }
}

// A program's path; without that package the one of PATH, or undefined.
function find(program) {
  const directory = packaged();
  if (directory) return path.join(directory, "bin", program);
  return (process.env.PATH ?? "").split(path.delimiter)
    .filter((place) => path.isAbsolute(place))
    .map((place) => path.join(place, program))
    .find((file) => fs.existsSync(file));
}

// sbxrun looks for shipped profiles where `make install` puts them; here they lie
// beside it.
function named(args, directory = packaged()) {
  if (directory === undefined) return args;
  const end = args.findIndex((arg) => arg === "--" || arg === "-c");
  return args.map((arg, i) => {
    const name = /^@([a-z-]+)$/.exec(arg);
    if (name === null || (end >= 0 && i > end)) return arg;
    const file = path.join(directory, "profiles", `${name[1]}.bin`);
    return fs.existsSync(file) ? file : arg;
  });
}

module.exports = function (program) {
  const directory = packaged();
  if (directory === undefined) {
    console.error(`${program}: there is no package sbx-${process.platform}-` +
      `${process.arch}: sbx runs on Linux, on x64 and arm64; was npm told to ` +
      "leave optional packages out?");
    process.exit(125);
  }
  const args = process.argv.slice(2);
  const ran = spawnSync(path.join(directory, "bin", program),
    program === "sbxrun" ? named(args, directory) : args,
    { stdio: "inherit" });
  if (ran.error) {
    console.error(`${program}: ${ran.error.message}`);
    process.exit(125);
  }
  process.exit(ran.signal ? 128 + constants.signals[ran.signal] : ran.status);
};
module.exports.find = find;
module.exports.named = named;

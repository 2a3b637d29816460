#!/usr/bin/env python3
"""Learns what tools want and runs them under what sbxc drafts of it.

	learn_tools.py SBXRUN SBXC DIRECTORY LEVEL POLICY EXTENDS LIST...

A line of a LIST is a tool in JSON: what it needs, how its workspace is made, the
command that is learned from, and other commands of the same tool.  A command
that fails without a sandbox is left out.  The first is learned from under POLICY,
and then under its own draft, which extends the profile EXTENDS or, if that is
"nearest", what sbxc chooses, until it passes; what passes then is asked of the
others.  For each tool a line of JSON is printed.
"""
import json
import os
import re
import shutil
import subprocess
import sys

ROUNDS = 4
RULE = re.compile(r"^    allow .*  # ", re.M)


class Stage:
    """Where tools run: a home directory and a workspace, made anew each time."""

    def __init__(self, directory):
        self.home = os.path.join(directory, "home")
        self.kept = os.path.join(directory, "kept")
        os.makedirs(self.kept, exist_ok=True)
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"],
                            "LANG": "C.UTF-8"}

    def workspace(self, tool):
        return os.path.join(self.home, "src", tool["tool"])

    def reset(self, tool):
        subprocess.run(["chmod", "-R", "u+rwx", self.home], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.home, ignore_errors=True)
        os.makedirs(self.workspace(tool))
        os.mkdir(os.path.join(self.home, ".ssh"))
        with open(os.path.join(self.home, ".ssh", "id_rsa"), "w") as key:
            key.write("key\n")
        with open(os.path.join(self.home, ".gitconfig"), "w") as config:
            config.write("[user]\n\tname = x\n\temail = x@example.org\n")
        if "make" in tool:
            self.execute(tool, ["sh", "-ec", tool["make"]])

    def execute(self, tool, words):
        """The status, and what was printed."""
        done = subprocess.run(words, cwd=self.workspace(tool), check=False,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300)
        return done.returncode, done.stdout.decode(errors="replace")

    def passes(self, tool, command, before=()):
        status, said = self.execute(tool, [*before, "sh", "-c", command])
        return status == 0, said


class Trial:
    """One tool at one level."""

    def __init__(self, stage, tool, programs, level, policies):
        self.stage, self.tool, self.level = stage, tool, level
        self.sbxrun, self.sbxc = programs
        self.policy, extends = policies
        self.words = [] if extends == "nearest" else ["--extends", extends]
        self.stem = os.path.join(stage.kept, f"{tool['tool']}-{level}")
        self.text = ""

    def confined(self, policy, *options):
        return [self.sbxrun, *options, "-l", self.level, "-w",
                self.stage.workspace(self.tool), policy, "--"]

    def under(self, policy, command, *options):
        self.stage.reset(self.tool)
        return self.stage.passes(self.tool, command,
                                 self.confined(policy, *options))

    def draft(self):
        """None, or what is wrong with it."""
        sbx, tests = self.stem + ".sbx", self.stem + ".test.yaml"
        for path in sbx, tests:
            if os.path.exists(path):
                os.unlink(path)
        for words in (["learn", "-p", "drafted", *self.words, "-o", sbx,
                       self.stem + ".log"],
                      ["check", "-E", "all", sbx],
                      ["build", sbx, "-o", self.stem + ".bin"],
                      ["test", tests]):
            status, said = self.stage.execute(self.tool, [self.sbxc, *words])
            if status != 0:
                return f"sbxc {words[0]}: {said}"
        with open(sbx) as text:
            self.text = text.read()
        return None

    def run(self):
        command = self.tool["learn"]
        result = {"tool": self.tool["tool"], "level": self.level}
        log = self.stem + ".log"
        if os.path.exists(log):
            os.unlink(log)
        policy = self.policy
        for result["rounds"] in range(1, ROUNDS + 1):
            good, said = self.under(policy, command, "--learn", log)
            result["draft"] = self.draft()
            if good or result["draft"] is not None:
                break
            policy = self.stem + ".bin"
        result["rules"] = len(RULE.findall(self.text))
        good, said = self.under(self.stem + ".bin", command)
        result["again"] = None if good else said[-2000:]
        result["others"] = {
            other: None if good else said[-2000:]
            for other in self.tool["others"]
            for good, said in [self.under(self.stem + ".bin", other)]}
        return result


def usable(stage, tool):
    """The tool with what passes without a sandbox, or None."""
    if any(shutil.which(word) is None for word in tool.get("needs", ())):
        return None
    good = []
    for command in [tool["learn"], *tool["others"]]:
        stage.reset(tool)
        if stage.passes(tool, command)[0]:
            good.append(command)
    if tool["learn"] not in good:
        return None
    return {**tool, "others": good[1:]}


def main(sbxrun, sbxc, directory, level, policy, extends, *lists):
    stage = Stage(directory)
    for name in lists:
        with open(name) as lines:
            tools = [json.loads(line) for line in lines]
        for tool in tools:
            tool = usable(stage, tool)
            if tool is not None:
                trial = Trial(stage, tool, (sbxrun, sbxc), level,
                              (policy, extends))
                print(json.dumps(trial.run()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

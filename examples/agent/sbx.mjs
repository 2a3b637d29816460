// Commands in a sandbox from Node, without a native module: a session of
// sbxrun's, which its first command makes and the others join.
//
//     const sandbox = await Sandbox.open({ policy: 'team.bin' });
//     const { status, stdout } = await sandbox.run(['make', 'test']);
//     await sandbox.close();

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';

function finished(child) {
	const output = { stdout: '', stderr: '' };

	for (const name of ['stdout', 'stderr'])
		child[name]?.setEncoding('utf8')
		    .on('data', (text) => { output[name] += text; });
	return new Promise((done, failed) => {
		child.on('error', failed);
		child.on('close', (status, signal) =>
		    done({ status, signal, ...output }));
	});
}

export class Sandbox {
	static async open({ policy, workspace = '.', sbxrun = 'sbxrun' }) {
		const sandbox = new Sandbox();

		sandbox.words = [sbxrun, '--session', `node-${randomUUID()}`];
		// It ends with us, too, if nobody closes it.
		const made = await sandbox.run(['true'], {},
		    ['--with-parent', '-w', workspace, policy]);

		if (made.status !== 0)
			throw new Error(made.stderr.trim());
		return sandbox;
	}

	// A ChildProcess, as of child_process.spawn().
	spawn(argv, options = {}, more = []) {
		const [sbxrun, ...words] = this.words;

		return spawn(sbxrun, [...words, ...more, '--', ...argv],
		    options);
	}

	// The status or the signal, and what was written.
	run(argv, options = {}, more = []) {
		return finished(this.spawn(argv, options, more));
	}

	close() {
		const [sbxrun, ...words] = this.words;

		return finished(spawn(sbxrun, [...words, '--end']));
	}
}

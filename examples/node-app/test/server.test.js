'use strict';
const assert = require('node:assert');
const { test } = require('node:test');
const server = require('../server.js');

test('the server says hello', async (t) => {
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	t.after(() => server.close());
	const { port } = server.address();
	const response = await fetch(`http://127.0.0.1:${port}/`);

	assert.strictEqual(await response.text(), 'hello\n');
});

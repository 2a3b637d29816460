'use strict';
const http = require('node:http');

const server = http.createServer((request, response) => {
	response.end('hello\n');
});

module.exports = server;
if (require.main === module)
	server.listen(3000, '127.0.0.1');

// SPDX-License-Identifier: Apache-2.0
// disk.js - a server that writes each request to a file, and waits until the disk has it. Prints the number of
// calls of fsync and their time, in microseconds by its own clock.
'use strict';
const fs = require('fs'), http = require('http');

const log = fs.openSync(process.argv[2], 'w');
let calls = 0, spent = 0n;

function keep(text) {
	fs.writeSync(log, text);
	const begun = process.hrtime.bigint();
	fs.fsyncSync(log);
	spent += process.hrtime.bigint() - begun;
	calls++;
}

const server = http.createServer((request, response) => {
	keep(request.url + '\n');
	response.end('kept\n');
});

function ask(port, left) {
	if (!left) {
		console.log(calls, Number(spent / 1000n));
		process.exit(0);
	}
	http.get({host: '127.0.0.1', port, path: '/' + left, agent: false}, response => response.resume().on('end', () => ask(port, left - 1)));
}

server.listen(0, '127.0.0.1', () => process.stdin.once('data', () => ask(server.address().port, 20)));

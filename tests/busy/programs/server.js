// SPDX-License-Identifier: Apache-2.0
const http = require('http'), zlib = require('zlib'), crypto = require('crypto');

function words(text) {
	return text.split(' ').map(w => w.toUpperCase()).sort();
}

function page() {
	const text = JSON.stringify(Array.from({ length: 200 }, (_, i) => ({ i, text: 'a line of text ' + i })));
	return crypto.createHash('sha256').update(words(text).join()).digest('hex') + text;
}

http.createServer((request, response) => zlib.gzip(page(), (error, data) => response.end(data)))
	.listen(process.argv[2]);

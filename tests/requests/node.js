// SPDX-License-Identifier: Apache-2.0

// node.js - asynchronous functions that work on requests, with the published package that writes Node's record. Each calls
// getpriority(0, FIRST + WHO), for a process that does not exist; node.py computes the request from WHO.
//     node node.js PACKAGE CALLS
'use strict';
const os = require('node:os');
const { AsyncLocalStorage } = require('node:async_hooks');
const { ThreadContext, clearContext } = require(process.argv[2]).otelThreadCtx;

const FIRST = 50000000; // above the kernel's largest pid
const calls = Number(process.argv[3]);
const others = Array.from({ length: 9 }, () => new AsyncLocalStorage()); // more keys in the same Map

function call(who) {
    try {
        os.getPriority(FIRST + who);
    } catch (e) {
        // there is no such process
    }
}

function contextOf(who) {
    const trace = Buffer.alloc(16), span = Buffer.alloc(8);
    trace.writeUInt32BE(who * 3, 4);
    trace.writeUInt32BE(who + 1, 12);
    span.writeUInt32BE(who * 5 + 1, 4);
    return new ThreadContext(trace, span, who % 2);
}

async function request(first) {
    clearContext();
    call(first);
    for (let who = first + 1; who < first + calls; who++) {
        const context = contextOf(who);
        if (who % 10 === 3)
            clearContext();
        else
            context.enter();
        if (who % 10 === 7)
            context.invalidate();
        if (who % 4 === 0)
            await null;
        if (who % 50 === 0)
            await new Promise((resolve) => setImmediate(resolve));
        call(who);
    }
    clearContext();
}

function within(i, f) {
    return i === others.length ? f() : others[i].run({ i }, () => within(i + 1, f));
}

process.stdin.once('data', async () => {
    await Promise.all([0, 1, 2, 3].map((i) => within(i * 3, () => request(i * 100000))));
    process.exit(0);
});

// SPDX-License-Identifier: Apache-2.0
// lines.js SECONDS FILE - phases of some milliseconds. It writes the begin and the end of each, by the clock of
// strata. The last comment of a line names the phases in which it may appear; "*" means all.
'use strict';

function spin(n) {                                              //: ^spin
    let sum = 0;                                                //: spin
    for (let i = 0; i < n; i++)                                 //: spin
        sum += i % 7 * (sum & 3);                               //: spin
    return sum;                                                 //: spin
}                                                               //: spin

function small(n) {                                             //: ^first ^second
    let sum = 1;                                                //: first second
    for (let i = 0; i < n; i++)                                 //: first second
        sum = (sum * 31 + i) & 0xffff;                          //: first second
    return sum;                                                 //: first second
}                                                               //: first second

function either(first) {                                        //: ^first ^second
    let sum = 0;                                                //: first second
    for (let i = 0; i < 40; i++)                                //: first second
        if (first)                                              //: first second
            sum += small(50);                                   //: !first
        else
            sum -= small(50);                                   //: !second
    return sum;                                                 //: first second
}                                                               //: first second

function leaf(n) {                                              //: ^nested
    return n * 3 % 11;                                          //: nested
}                                                               //: nested

function middle(n) {                                            //: ^nested
    let sum = 0;                                                //: nested
    for (let i = 0; i < n; i++)                                 //: nested
        sum += leaf(i) - leaf(sum & 7);                         //: !nested
    return sum;                                                 //: nested
}                                                               //: nested

class Pair {
    constructor(a, b) {                                         //: ^objects
        this.a = a;                                             //: objects
        this.b = b;                                             //: objects
    }                                                           //: objects
    get sum() {                                                 //: ^objects
        return this.a + this.b.length;                          //: objects
    }                                                           //: objects
}

function objects(n) {                                           //: ^objects
    const list = [];                                            //: objects
    let sum = 0;                                                //: objects
    for (let i = 0; i < n; i++)                                 //: objects
        list.push(new Pair(i, [i, sum]));                       //: !objects
    for (const pair of list)                                    //: objects
        sum = (sum + pair.sum) % 1000;                          //: !objects
    return sum;                                                 //: objects
}                                                               //: objects

function strings(n) {                                           //: ^strings
    const seen = new Map();                                     //: strings
    let text = '';                                              //: strings
    for (let i = 0; i < n; i++) {                               //: strings
        text += String.fromCharCode(97 + i % 26);               //: strings
        seen.set(text.slice(-3), i * 0.5);                      //: strings
    }                                                           //: strings
    return seen.size;                                           //: strings
}                                                               //: strings

const phases = {
    spin: () => spin(2000),                                     //: !spin
    first: () => either(true),                                  //: !first
    second: () => either(false),                                //: !second
    nested: () => middle(500),                                  //: !nested
    objects: () => objects(100),                                //: !objects
    strings: () => strings(100),                                //: !strings
};
const account = [];
const end = Date.now() + 1000 * Number(process.argv[2] || 3);
let total = 0;

while (Date.now() < end)                                        //: *
    for (const [name, run] of Object.entries(phases)) {         //: *
        const began = process.hrtime.bigint(), until = Date.now() + 20;   //: *
        while (Date.now() < until)                              //: *
            total += run();                                     //: !*
        account.push(`${name} ${began} ${process.hrtime.bigint()}`); //: *
    }                                                           //: *
require('fs').writeFileSync(process.argv[3], account.join('\n'));

'use strict';
// Says which expressions of a question are none, before anything runs: `node check.cjs ask.json`, an array of [what, why] as JSON.
const fs = require('fs');
const { Rewriter } = require('./rewriter.cjs');

const { wrong, unreadable } = new Rewriter(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')), 1);
process.stdout.write(JSON.stringify({ wrong, unreadable }));

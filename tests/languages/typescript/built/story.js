const threads = require('node:worker_threads');
function price(item, count) {
    const cost = item.length * count;
    return cost;
}
function tally(words) {
    const seen = {};
    for (var word of words) {
        seen[word] = (seen[word] || 0) + 1;
    }
    return seen;
}
function shop() {
    let total = 0;
    for (var count = 1; count < 7; count++) {
        total += price('fig', count);
        console.log('so far', total);
    }
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    return total + numbers[0];
}
function fail(total) {
    throw new RangeError(`too much: ${total}`);
}
function careful() {
    try {
        fail(1);
    }
    catch (error) {
        return 'recovered';
    }
}
function spin() {
    let turns = 0;
    console.log('spinning');
    while (true) {
        turns += 1;
    }
}
function worker() {
    const mine = 'of the worker';
    console.log(mine);
}
function main(what) {
    if (!threads.isMainThread) {
        worker();
    }
    else if (what === 'shop') {
        let total = shop();
        console.log('done', total);
    }
    else if (what === 'tally') {
        console.log(tally(['a', 'b', 'a']));
    }
    else if (what === 'fail') {
        fail(2000);
    }
    else if (what === 'careful') {
        console.log(careful());
    }
    else if (what === 'spin') {
        spin();
    }
    else if (what === 'thread') {
        new threads.Worker(process.argv[1], { name: 'helper' });
    }
    return what === 'seven' ? 7 : 0;
}
process.exitCode = main(process.argv[2]);
//# sourceMappingURL=story.js.map
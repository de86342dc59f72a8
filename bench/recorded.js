// What the recorder is measured on: a function that is traced, one that is probed, and one that nobody asks about.
function traced(turns) {
  let total = 0;
  const seen = {};
  for (let i = 0; i < turns; i++) {
    total += i;
    const half = total / 2;
    seen.last = half;
  }
  return total;
}

function probed(turns) {
  let price = 0;
  for (let i = 0; i < turns; i++) {
    price = i % 100; // @probe
  }
  return price;
}

function outside(turns) {
  let total = 0;
  for (let i = 0; i < turns; i++) total += Math.abs(-i);
  return total;
}

function cpu(work, turns) {
  const began = process.cpuUsage();
  work(turns);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / turns;
}

const turns = Number(process.argv[2]);
console.log(JSON.stringify(Object.fromEntries([traced, probed, outside].map((each) => [each.name, cpu(each, turns)]))));

// Rewrites files as if every function of theirs were asked about, and says what came of it: node rewrite.cjs RECORDING FILE…
const fs = require('fs');
const path = require('path');

const [folder, ...files] = process.argv.slice(2);
const { Rewriter } = require(path.join(folder, 'rewriter.cjs'));

const lines = (text) => text.split('\n').length;
const told = files.map((file) => {
  const text = fs.readFileSync(file, 'utf8');
  const rewriter = new Rewriter({ trace: { where: { function: 'nobody' }, depth: 1 }, root: '/', all_code: true }, 1);
  const made = rewriter.rewrite(text, file, 'script') || { text, said: [], metas: [] };
  return { file, functions: made.metas.length, notes: made.said.filter(([kind]) => kind === 'note'), moved: lines(made.text) - lines(text) };
});
process.stdout.write(JSON.stringify(told));

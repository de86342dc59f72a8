// Modules of the new kind, on the thread where Node 18 and 20 load them: their text is rewritten here, and brings along what the
// recorder on the program's own thread has to know of it.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
let rewriter;

export function initialize({ ask, firstId }) {
  const { Rewriter } = require('./rewriter.cjs');
  rewriter = new Rewriter(ask, firstId);
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (loaded.format !== 'module' || !url.startsWith('file:') || loaded.source == null) return loaded;
  const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
  const made = rewriter.rewrite(text, fileURLToPath(url), 'module');
  if (!made) return loaded;
  const { said, metas, moved, begin = 0 } = made;
  const learned = JSON.stringify(JSON.stringify({ said, metas, moved, begin }));
  const words = (length) => `__stillframe_r.learn(${learned},${String(length).padStart(12)});`;
  return { ...loaded, source: made.text.slice(0, begin) + words(words(0).length) + made.text.slice(begin) };
}

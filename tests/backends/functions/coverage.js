// Loads the files and packages that its arguments name, and tells the functions that V8 knows of in them.
const fs = require('node:fs')
const inspector = require('node:inspector')

const session = new inspector.Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const [out, root, ...wanted] = process.argv.slice(2)
for (const each of wanted) {
  try { require(each) } catch { /* a package that cannot be loaded by require tells nothing */ }
}
session.post('Profiler.takePreciseCoverage', (error, { result }) => {
  const told = {}
  for (const { url, functions } of result) {
    const file = url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : ''
    if (!file.startsWith(root)) continue
    told[file] = functions.map(({ functionName, ranges: [{ startOffset, endOffset }] }) => [functionName, startOffset, endOffset])
  }
  fs.writeFileSync(out, JSON.stringify(told))
  process.exit()
})

// Tells every function of the files that its arguments name, as the parser inside Node sees them (--expose-internals).
const acorn = require('internal/deps/acorn/acorn/dist/acorn')
const fs = require('node:fs')

const LENIENT = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true }
const ASSIGNING = ['=', '||=', '&&=', '??=']

function parse (text) {
  try {
    return acorn.parse(text, { ...LENIENT, sourceType: 'script' })
  } catch {
    return acorn.parse(text, { ...LENIENT, sourceType: 'module' })
  }
}

function spelt (node, computed) {
  if (node.type === 'Literal') {
    if (typeof node.value === 'string') return node.raw.slice(1, -1)
    return computed ? null : node.raw
  }
  if (computed) return null
  return node.type === 'PrivateIdentifier' ? '#' + node.name : node.name ?? null
}

function target (node) {
  if (node.type === 'Identifier') return node.name
  return node.type === 'MemberExpression' ? spelt(node.property, node.computed) : null
}

function bindings (node, bound, text) {
  switch (node.type) {
    case 'VariableDeclarator': return [[node.init, target(node.id)], [node.id]]
    case 'AssignmentExpression': return [[node.left], [node.right, ASSIGNING.includes(node.operator) ? target(node.left) : null]]
    case 'AssignmentPattern': return [[node.left], [node.right, target(node.left)]]
    case 'ConditionalExpression': return [[node.test], [node.consequent, bound], [node.alternate, bound]]
    case 'LogicalExpression': return [[node.left], [node.right, bound]]
    case 'ExportDefaultDeclaration': return [[node.declaration, node.declaration.id ? null : 'default']]
    case 'Property':
      return [[node.key], [node.value, spelt(node.key, node.computed), node.method || node.kind !== 'init' ? node.start : null]]
    case 'PropertyDefinition': return [[node.key], [node.value, spelt(node.key, node.computed)]]
    case 'MethodDefinition': {
      const start = node.static ? node.start + /^static\s*/.exec(text.slice(node.start, node.start + 100))[0].length : node.start
      return [[node.key], [node.value, spelt(node.key, node.computed), start]]
    }
    default: return Object.values(node).flat().map((each) => [each])
  }
}

function functions (text) {
  const found = []
  const waiting = [[parse(text)]]
  while (waiting.length) {
    const [node, bound = null, start = null] = waiting.pop()
    if (!node || typeof node.type !== 'string') continue
    if (/Function/.test(node.type)) {
      const block = node.body.type === 'BlockStatement'
      found.push({ names: [node.id?.name, bound].filter(Boolean), start: start ?? node.start, block, body: node.body.start + block, end: node.end })
    }
    waiting.push(...bindings(node, bound, text))
  }
  return found
}

const [out, ...files] = process.argv.slice(2)
fs.writeFileSync(out, JSON.stringify(Object.fromEntries(files.map((file) => {
  const text = fs.readFileSync(file, 'utf8')
  try { return [file, functions(text)] } catch { return [file, []] }
}))))

#!/usr/bin/env node
function plain(a) { return a }
async function* agen(a) { yield a }
const expr = function (a) { return a }
const named = function inner(a) { return a }
const arrow = (a) => a + 1
const arrow2 = async a => ({ a })
const arrow3 = async (a) => { return a }
const o = { m() {}, async am() {}, *g() {}, async *ag() {}, get x() { return 1 }, set x(v) {}, ['lit']() {}, [Symbol.iterator]() {}, f: function () {}, h: () => 1, 'str'() {}, 12() {}, nested: { deep() {} } }
class Cart { static s() {} constructor() { this.t = 1 } total() {} #p() {} field = () => { return 1 }; static async *sg() {} get y() { return 1 } static { this.z = 1 } 'q w'() {} static  async  am2() {} }
class Sub extends Cart { own = 1; f2 = function () {} }
exports.e1 = function () {}
module.exports.e2 = () => {}
Cart.prototype.pm = function () {}
Cart['lit2'] = function () {}
const par = (function () {})
const par2 = ((a) => a)
const iife = (function () { return 1 })()
const iife2 = (() => 1)()
let q; q ||= () => 1
const { d = () => 1 } = {}
const cond = true ? () => 1 : () => 2
function defp(cb = () => 1) { function nest() {} const z = y => y
 const zz = 1 }
defp()
this.th = function () {}
const K = class { m3() {} }
const K2 = class Own { m3() {} }
const async = 1
const mod2 = { async, get: 1, set() {}, static() {}, async: () => 2 }
const multi = x => y => z => x
new Sub()
const text = `a ${[1].map((n) => `${n} } function no() {}`)} function nor() {}` // function comment() {}
const re = /[/'"`{(]function re() {}/.test('x') ? 4 / 2 / 1 : /}/g // a }
if (re) /function cond() {/.test('')
const wide = '😀', after = function () { return wide }
label: for (const x of [1]) { const inLoop = () => x; inLoop() }
switch (1) { case 1: { const inCase = function () {}; inCase() } default: const inDefault = () => ({ a: 1 })
}
class Bare { a
  b = 1
  c = () => 2
  d() {}
  static e = async (x) => x
  get; set;
  f() {} }
new Bare()
const { g = () => 1, h: { i = function () {} } = {} } = {}
const spread = { ...{ j() {} }, k: true ? function () {} : 0, get() {}, async() {}, if() {}, class: () => 1 }
const Mixed = class extends (class Base { base() {} }) { mixed() {} }
function allman (a)
{
  return a
}
const chained = [1, 2]
  .map(x => x)
const noSemicolon = (x) => x
const alsoNone = y => y
  + 1
const last = async () => {}
;[1].forEach(function each () {})

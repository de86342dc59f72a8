"""A run as one page: timeline, source, stack, values and output in a file that needs nothing else and fetches nothing.

What the program said is data in it: it is put on the page as text, and the page's own policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import sqlite3
import time
from typing import Any

from ..model import exact
from . import chronicle, finding, reading
from .finding import Run, View

MOST_HITS = 5000
"""Hits on one page; JSON lines hold all of them."""
OUTPUT = 100_000

STYLE = """
:root{color-scheme:light dark;--line:#8884;--mark:#f5c51840;--dim:#888}
body{font:14px/1.4 system-ui,sans-serif;margin:0;display:grid;grid-template:auto 1fr/22rem 1fr;height:100vh}
header{grid-column:1/3;padding:.6rem 1rem;border-bottom:1px solid var(--line)}header b{font-size:1.1rem}
nav{overflow:auto;border-right:1px solid var(--line)}main{overflow:auto;padding:0 1rem 2rem}
nav button{display:block;width:100%;text-align:left;border:0;border-bottom:1px solid var(--line);background:none;color:inherit;
font:inherit;padding:.35rem .8rem;cursor:pointer}nav button[aria-current=true]{background:var(--mark)}
nav small,.dim{color:var(--dim)}
input{width:calc(100% - 1.6rem);box-sizing:border-box;margin:.5rem .8rem;padding:.3rem;font:inherit}
#ticks{position:relative;height:1.1rem;margin-top:.4rem;border-bottom:1px solid var(--line)}
#ticks i{position:absolute;bottom:0;width:3px;height:.6rem;background:var(--dim);cursor:pointer}
#ticks i[aria-current=true]{height:1.1rem;background:currentColor}
pre,code,td{font:12.5px/1.5 ui-monospace,monospace}pre{margin:0;overflow:auto}pre .here{background:var(--mark)}
table{border-collapse:collapse;width:100%}td{border-bottom:1px solid var(--line);padding:.15rem .6rem .15rem 0;vertical-align:top;
white-space:pre-wrap;word-break:break-word}td:first-child{word-break:normal}td.dim{min-width:6rem}
td.changed{background:var(--mark)}h2{font-size:.95rem;margin:1.1rem 0 .3rem}
"""
SCRIPT = """
'use strict';
const run = JSON.parse(document.getElementById('run').textContent);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
};
const list = document.getElementById('hits'), view = document.getElementById('view'), ticks = document.getElementById('ticks');
const place = (hit) => (hit.file || '?') + (hit.line ? ':' + hit.line : '');
const count = (number) => number.toLocaleString('en');
const cut = (shown, total, what) => (shown < total ? ` (${count(shown)} of ${count(total)} ${what})` : '');
let current = -1;
function section(title, ...nodes) { view.append(make('h2', title), ...nodes); }
function sourceOf(hit) {
  const source = run.sources[hit.source];
  const pre = make('pre');
  if (!source) return make('p', 'its source was not recorded', 'dim');
  const lines = source.lines, first = source.first;
  for (let n = Math.max(first, hit.line - 12); n <= Math.min(first + lines.length - 1, hit.line + 12); n++) {
    const row = make('span', (n === hit.line ? '> ' : '  ') + String(n).padStart(5) + '  ' + lines[n - first] + '\\n');
    if (n === hit.line) row.className = 'here';
    pre.append(row);
  }
  return pre;
}
function before(index) {
  const hit = run.hits[index];
  for (let n = index - 1; n >= 0; n--) {
    if (place(run.hits[n]) === place(hit) && run.hits[n].session === hit.session) return run.hits[n];
  }
  return null;
}
function valuesOf(index) {
  const hit = run.hits[index], last = before(index);
  const known = new Map((last ? last.locals : []).map((each) => [each.name, each.value]));
  const table = make('table');
  for (const each of hit.locals) {
    const row = make('tr'), text = make('td', each.value);
    if (last && known.get(each.name) !== each.value) text.className = 'changed';
    row.append(make('td', each.name), text, make('td', each.type || '', 'dim'));
    table.append(row);
  }
  return hit.locals.length ? table : make('p', 'none', 'dim');
}
function show(index) {
  if (index < 0 || index >= run.hits.length) return;
  current = index;
  const hit = run.hits[index];
  view.replaceChildren();
  const who = run.sessions > 1 ? ` of ${hit.session}` : '';
  section(`${hit.name}${who} ${hit.reason} at ${place(hit)} in ${hit.symbol}`, sourceOf(hit));
  if (hit.exception) section('Exception', make('pre', hit.exception));
  section('Locals' + cut(hit.locals.length, hit.locals_total, 'recorded'), valuesOf(index));
  const stack = make('table');
  hit.stack.forEach((frame, n) => {
    const row = make('tr');
    row.append(make('td', 'f' + n), make('td', frame.function), make('td', (frame.file || '') + ':' + (frame.line || '')));
    stack.append(row);
  });
  section('Stack' + cut(hit.stack.length, hit.stack_total, 'recorded'), stack);
  if (hit.notes.length) section('Notes', ...hit.notes.map((note) => make('p', note)));
  section('Output of the run' + cut(run.output_bytes, run.output_total, 'bytes, its end'), make('pre', run.output || '(none)'));
  for (const button of [...list.children, ...ticks.children]) {
    button.setAttribute('aria-current', String(Number(button.dataset.index) === index));
  }
  const marked = list.querySelector('[aria-current=true]');
  if (marked) marked.scrollIntoView({ block: 'nearest' });
  location.replace('#' + hit.name);
}
function fill(filter) {
  list.replaceChildren();
  run.hits.forEach((hit, index) => {
    const values = hit.locals.map((each) => each.name + '=' + each.value).join(' ');
    const who = run.sessions > 1 ? `${hit.session} ` : '';
    const words = `${hit.name} ${who}${place(hit)} ${hit.symbol} ${values}`;
    if (filter && !words.toLowerCase().includes(filter.toLowerCase())) return;
    const button = make('button', `${hit.name}  ${place(hit)} `);
    button.append(make('small', `${who}${hit.symbol}${hit.step ? ', step' : ''}  +${hit.after.toFixed(3)} s`));
    button.dataset.index = index;
    button.addEventListener('click', () => show(index));
    list.append(button);
  });
}
function mark() {
  const first = Math.min(...run.hits.map((hit) => hit.after)), last = Math.max(...run.hits.map((hit) => hit.after));
  run.hits.forEach((hit, index) => {
    const tick = make('i');
    tick.title = `${hit.name} +${hit.after.toFixed(3)} s`;
    tick.style.left = `${last > first ? ((hit.after - first) / (last - first)) * 99 : 0}%`;
    tick.dataset.index = index;
    tick.addEventListener('click', () => show(index));
    ticks.append(tick);
  });
}
document.getElementById('filter').addEventListener('input', (event) => fill(event.target.value));
document.addEventListener('keydown', (event) => {
  if (event.target.tagName === 'INPUT') return;
  if (event.key === 'j' || event.key === 'ArrowDown') show(current + 1);
  if (event.key === 'k' || event.key === 'ArrowUp') show(current - 1);
});
fill('');
mark();
const wanted = location.hash.slice(1);
show(Math.max(0, run.hits.findIndex((hit) => hit.name === wanted)));
document.documentElement.dataset.ready = String(run.hits.length);
"""


def page(connection: sqlite3.Connection, run: Run, view: View) -> tuple[str, int, int]:
    """The page, how many hits it shows, and how many there are."""
    total = connection.execute(f"SELECT count(*) FROM hit WHERE run IN ({run.marks})", run.members).fetchone()[0]
    data = _data(connection, run, view)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(SCRIPT)}'; base-uri 'none'"
    info = finding.info(connection, run.id)
    shown = len(data["hits"])
    cut = f", the first {shown:,} shown" if shown < total else ""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(info.began))
    head = f"{info.session} {info.state}, {total:,} hit{'s' * (total != 1)}{cut}; {info.tool}, {when}"
    body = exact.encode(data).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
        f'<meta name="viewport" content="width=device-width"><title>{html.escape(info.session)} - Stillframe</title>'
        f"<style>{STYLE}</style></head><body><header><b>{html.escape(info.session)}</b> {html.escape(head)}"
        f'<br><code>{html.escape(" ".join(info.command))}</code><div id="ticks"></div></header>'
        '<nav><input id="filter" placeholder="filter hits"><div id="hits"></div></nav><main id="view">'
        "<noscript>This page needs its own script to show the hits.</noscript></main>"
        f'<script type="application/json" id="run">{body}</script><script>{SCRIPT}</script></body></html>\n'
    )
    return text, shown, total


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data(connection: sqlite3.Connection, run: Run, view: View) -> dict[str, Any]:
    ids = [
        row[0]
        for row in connection.execute(
            f"SELECT id FROM hit WHERE run IN ({run.marks}) ORDER BY id LIMIT ?", (*run.members, MOST_HITS)
        )
    ]
    began = connection.execute("SELECT began FROM run WHERE id=?", (run.id,)).fetchone()[0]
    hits = []
    sources: dict[str, Any] = {}
    for begin in range(0, len(ids), 500):
        for row in reading.rows(connection, ids[begin : begin + 500]):
            hits.append(_hit(connection, row, view, began, run))
            if row.source and str(row.source) not in sources:
                first, lines = finding.source_lines(connection, row.source)
                sources[str(row.source)] = {"first": first, "lines": lines}
    told, total, missing = chronicle.output(connection, run, ("stdout", "stderr", "log"), OUTPUT)
    return {
        "hits": hits,
        "sources": sources,
        "sessions": len(run.members),
        "output": "".join(told.values()),
        "output_bytes": total - missing,
        "output_total": total,
    }


def _hit(connection: sqlite3.Connection, row: reading.Row, view: View, began: float, run: Run) -> dict[str, Any]:
    stop = reading.stop(connection, row, view)
    wrong = stop.exception
    return {
        "name": row.handle if row.run == run.id else f"r{row.run}.{row.handle}",
        "session": row.session,
        "after": max(0.0, row.time - began),
        "reason": row.reason,
        "step": bool(row.step),
        "file": view.file(row.file, row.root),
        "line": row.line,
        "symbol": row.symbol,
        "source": str(row.source),
        "notes": list(stop.notes),
        "exception": f"{wrong.type}: {wrong.message}" if wrong else None,
        "locals": [{"name": each.name, "value": each.value, "type": each.type} for each in stop.locals],
        "locals_total": stop.locals_total or len(stop.locals),
        "stack_total": stop.stack_total or len(stop.stack),
        "stack": [{"function": each.function, "file": each.file, "line": each.line} for each in stop.stack],
    }

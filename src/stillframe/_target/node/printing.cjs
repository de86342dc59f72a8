// What tests print, kept in short by the reporters of ours: the newest part of each stream, and how much it was in all.
"use strict";
const { StringDecoder } = require("node:string_decoder");

const KEPT = 4000;

// Characters as others than JavaScript count them, whose strings have two places for some.
function characters(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}

// The end of a text, and not the second half of a character.
function newest(text) {
  if (text.length <= KEPT) return text;
  const end = text.slice(-KEPT);
  return (end.charCodeAt(0) & 0xfc00) === 0xdc00 ? end.slice(1) : end;
}

class Printed {
  constructor() {
    this.streams = {};
    this.total = 0;
  }

  // Bytes that are no text are told as such, and never fail who printed them.
  take(stream, chunk, encoding) {
    const row = (this.streams[stream] = this.streams[stream] || { decoder: new StringDecoder("utf8"), text: "" });
    let text = chunk;
    if (typeof chunk !== "string") text = row.decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    else if (typeof encoding === "string" && !/^utf-?8$/i.test(encoding)) text = row.decoder.write(Buffer.from(chunk, encoding));
    this.total += characters(text);
    row.text = newest(row.text + text);
  }

  // By stream; the total where that is more than is told.
  told() {
    const texts = Object.entries(this.streams).filter(([, { text }]) => text);
    const kept = texts.reduce((sum, [, { text }]) => sum + characters(text), 0);
    return { printed: Object.fromEntries(texts.map(([name, { text }]) => [name, text])), total: this.total > kept ? this.total : 0 };
  }
}

// Hear what this process writes to its streams, which goes where it went; returns what ends it. Who puts a function of their own
// into the stream's place, as tests do that want nothing printed, is not overruled.
function listen(heard) {
  const ends = ["stdout", "stderr"].map((name) => {
    const stream = process[name];
    const before = Object.getOwnPropertyDescriptor(stream, "write");
    const plain = stream.write;
    const write = function (chunk, encoding) {
      try {
        heard(name, chunk, encoding);
      } catch {
        // It is nothing that can be written, of which the stream itself will tell.
      }
      return Reflect.apply(plain, this, arguments);
    };
    stream.write = write;
    return () => {
      if (stream.write !== write) return;
      if (before) Object.defineProperty(stream, "write", before);
      else delete stream.write;
    };
  });
  return () => ends.forEach((end) => end());
}

module.exports = { Printed, listen, newest, characters };

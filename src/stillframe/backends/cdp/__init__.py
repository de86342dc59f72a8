"""V8's inspector: JavaScript and what is compiled to it, in Node."""

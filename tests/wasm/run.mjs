// Has a WebAssembly module check each kernel file that is named: run.mjs MODULE FILE...
import { readFileSync } from "node:fs";

const [module, ...files] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { check, memory, message, message_bytes, room } = instance.exports;
let [checked, launches, wrong] = [0, 0, 0];
for (const file of files) {
  const text = readFileSync(file);
  // A module reads no files.
  if (text.includes(".npy")) continue;
  // Memory that has grown is another buffer.
  const at = room(text.length);
  new Uint8Array(memory.buffer, at, text.length).set(text);
  const runs = check();
  checked += 1;
  if (runs >= 0) {
    launches += runs;
  } else {
    wrong += 1;
    const [start, length] = [message(), message_bytes()];
    const bytes = new Uint8Array(memory.buffer, start, length);
    console.log(`${file}:\n${new TextDecoder().decode(bytes)}`);
  }
}
console.log(`wasm: ${checked} files, ${launches} launches, ${wrong} wrong`);
process.exit(wrong > 0 || launches === 0 ? 1 : 0);

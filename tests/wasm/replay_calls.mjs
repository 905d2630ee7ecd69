// node replay_calls.mjs MODULE CALLS: makes the calls of recording_engine.h in this engine, one thread, and compares
// every byte of memory that they name. After an outcome that is an error outputs are unspecified; NaNs are equal to
// each other.
import {readFileSync} from 'node:fs';

const [modulePath, callsPath] = process.argv.slice(2);
const file = readFileSync(callsPath);
const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
let at = 0;
const u32 = () => (at += 4, view.getUint32(at - 4, true));
const u64 = () => (at += 8, view.getBigUint64(at - 8, true));
const bytes = (n) => (at += n, file.subarray(at - n, at));

const kPage = 65536;
const memory = new WebAssembly.Memory({initial: 16, maximum: 65535, shared: true});
const {instance} = await WebAssembly.instantiate(readFileSync(modulePath), {env: {memory}});
const {call, layout, __heap_base, __stack_pointer} = instance.exports;

function fail(text) {
  console.error(text);
  process.exit(1);
}
if (u32() !== 0x31435750) fail(`${callsPath}: not a file of calls`);
if (u32() !== (layout() >>> 0)) fail('module and calls are of different builds');

// The stack, the arguments, then the pieces of memory.
const stackTop = (__heap_base.value + kPage + 63) & ~63;
__stack_pointer.value = stackTop;
const argsAt = stackTop;
const piecesAt = argsAt + 4096;

const isNaN32 = (word) => (word & 0x7fffffff) > 0x7f800000;

// The first byte that differs, or -1.
function difference(seen, expected) {
  if (Buffer.compare(seen, expected) === 0) return -1;
  for (let i = 0; i < expected.length; ++i) {
    if (seen[i] === expected[i]) continue;
    const word = i & ~3;
    if (word + 4 > expected.length || !isNaN32(seen.readUInt32LE(word)) || !isNaN32(expected.readUInt32LE(word))) {
      return i;
    }
  }
  return -1;
}

let nCalls = 0;
const perKernel = new Map();
while (at < file.length) {
  const [kernel, outcome, argsBytes, nRefs, nPieces, nameBytes] = [u32(), u32(), u32(), u32(), u32(), u32()];
  const [begin, end] = [u64(), u64()];
  const name = bytes(nameBytes).toString();
  const args = Buffer.from(bytes(argsBytes));
  const pieces = [];
  let next = piecesAt;
  for (let i = 0; i < nPieces; ++i) {
    const piece = {place: next, size: u32(), isScratch: u32() !== 0};
    piece.before = piece.isScratch ? null : bytes(piece.size);
    pieces.push(piece);
    next = (next + piece.size + 63) & ~63;
  }
  const missing = Math.ceil((next - memory.buffer.byteLength) / kPage);
  if (missing > 0) memory.grow(missing);
  const all = Buffer.from(memory.buffer);
  for (const {place, size, before} of pieces) before ? before.copy(all, place) : all.fill(0, place, place + size);
  for (let i = 0; i < nRefs; ++i) {
    const ref = args.readBigUInt64LE(8 * i);
    if (ref === 0n) continue;
    const place = pieces[Number(ref >> 32n) - 1].place + Number(ref & 0xffffffffn);
    args.writeBigUInt64LE(BigInt(place), 8 * i);
  }
  args.copy(all, argsAt);

  const seen = call(kernel, argsAt, begin, end) >>> 0;
  if (seen !== outcome) fail(`${name}: kernel ${kernel} answered ${seen}, expected ${outcome}`);
  for (const piece of pieces) {
    const expected = piece.isScratch ? null : Buffer.from(piece.before);
    for (let n = u32(); n > 0; --n) {
      const where = u32();
      bytes(u32()).copy(expected, where);
    }
    if (piece.isScratch || outcome !== 0) continue;
    const wrong = difference(all.subarray(piece.place, piece.place + piece.size), expected);
    if (wrong >= 0) {
      fail(`${name}: kernel ${kernel}, byte ${wrong} of a piece of ${piece.size}: ` +
           `${all[piece.place + wrong]}, expected ${expected[wrong]}`);
    }
  }
  ++nCalls;
  perKernel.set(kernel, (perKernel.get(kernel) ?? 0) + 1);
}
if (perKernel.size !== 10) fail(`only ${perKernel.size} kernels of 10 were called`);
console.log(`${nCalls} calls equal in ${process.version}, V8 ${process.versions.v8}`);

/**
 * Single-precision matrix product in the manner of BLIS (Van Zee and van de Geijn, 2015): both
 * operands are packed into strips that the micro-kernel reads with one pointer each, so that any
 * transposition is a matter of strides in the packing alone.
 *
 * The micro-kernel holds a 6 x 8 tile of C in 12 of the 15 vector registers V8 hands out on x64;
 * larger tiles spill, unrolling over k does too. Every element of C is one chain of fused
 * multiply-adds over ascending k, whatever its place in the matrix: a row of C does not depend
 * on which other rows are computed with it.
 */

import { packA, packStripB } from './pack';
import { F32, MR, micro, micro4, NR } from './tile';

/** Rows of A packed at a time (a multiple of MR); with KC this fits the second-level cache. */
const MC: usize = 144;
/** Depth of a packed strip. */
const KC: usize = 384;

const packedA = memory.data(i32(MC * KC * F32), 16);
const packedB = memory.data(i32(KC * NR * F32), 16);
/** For tiles that stick out of C. */
const tile = memory.data(i32(MR * NR * F32), 16);

/** A tile that sticks out of C: computed aside, the part inside copied. */
function edge(
  rows: usize, columns: usize, depth: usize, a: usize, b: usize, c: usize, cRow: usize, accumulate: bool,
): void {
  if (accumulate) copyTile(rows, columns, c, cRow, tile, NR * F32);
  if (rows <= 4) micro4(depth, a, b, tile, NR * F32, accumulate);
  else micro(depth, a, b, tile, NR * F32, accumulate);
  copyTile(rows, columns, tile, NR * F32, c, cRow);
}

function copyTile(
  rows: usize, columns: usize, from: usize, fromRow: usize, to: usize, toRow: usize,
): void {
  const bytes = columns * F32;
  for (let i: usize = 0; i < rows; i++) {
    for (let o: usize = 0; o < bytes; o += F32) store<f32>(to + o, load<f32>(from + o));
    from += fromRow;
    to += toRow;
  }
}

/** C[rows x columns] (+)= packedA x one strip of B. */
function multiplyStrip(
  rows: usize, columns: usize, depth: usize, strip: usize, c: usize, cRow: usize, accumulate: bool,
): void {
  for (let i: usize = 0; i < rows; i += MR) {
    const a = packedA + i * depth * F32;
    const left = rows - i;
    if (left >= MR && columns == NR) micro(depth, a, strip, c + i * cRow, cRow, accumulate);
    else if (left == 4 && columns == NR) micro4(depth, a, strip, c + i * cRow, cRow, accumulate);
    else edge(left < MR ? left : MR, columns, depth, a, strip, c + i * cRow, cRow, accumulate);
  }
}

/**
 * C[m x n] = A[m x k] x B[k x n], or += when `accumulate` is not 0. Strides count floats:
 * a transposed operand is the same memory with its two strides swapped. C must not overlap A or B.
 */
export function gemm(
  m: usize, n: usize, k: usize,
  a: usize, aRow: usize, aCol: usize,
  b: usize, bRow: usize, bCol: usize,
  c: usize, cRow: usize, accumulate: i32,
): void {
  if (k == 0 && !accumulate) for (let i: usize = 0; i < m; i++) memory.fill(c + i * cRow * F32, 0, n * F32);
  for (let p: usize = 0; p < k; p += KC) {
    const depth = k - p < KC ? k - p : KC;
    for (let i: usize = 0; i < m; i += MC) {
      const rows = m - i < MC ? m - i : MC;
      packA(rows, depth, a + (i * aRow + p * aCol) * F32, aRow * F32, aCol * F32, packedA);
      for (let j: usize = 0; j < n; j += NR) {
        const columns = n - j < NR ? n - j : NR;
        packStripB(depth, columns, b + (p * bRow + j * bCol) * F32, bRow * F32, bCol * F32, packedB);
        multiplyStrip(
          rows, columns, depth, packedB, c + (i * cRow + j) * F32, cRow * F32, accumulate != 0 || p > 0,
        );
      }
    }
  }
}

/** C[m x n] = A[m x k] x B, where B lies in strips [ceil(n / 8)][k][8]; rows of A lie `aRow` floats apart. */
export function gemmPacked(
  m: usize, n: usize, k: usize, a: usize, aRow: usize, b: usize, c: usize, cRow: usize,
): void {
  for (let p: usize = 0; p < k; p += KC) {
    const depth = k - p < KC ? k - p : KC;
    for (let i: usize = 0; i < m; i += MC) {
      const rows = m - i < MC ? m - i : MC;
      packA(rows, depth, a + (i * aRow + p) * F32, aRow * F32, F32, packedA);
      for (let j: usize = 0; j < n; j += NR) {
        const columns = n - j < NR ? n - j : NR;
        const strip = b + (j * k + p * NR) * F32;
        multiplyStrip(rows, columns, depth, strip, c + (i * cRow + j) * F32, cRow * F32, p > 0);
      }
    }
  }
}

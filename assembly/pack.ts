/** Lays operands out as the micro-kernel reads them. All strides here count bytes. */
import { F32, MR, NR } from './tile';

/** A[rows x depth] -> strips of MR rows, [strip][depth][MR], zero where rows run out. */
export function packA(rows: usize, depth: usize, a: usize, aRow: usize, aCol: usize, out: usize): void {
  for (let i: usize = 0; i < rows; i += MR) {
    packStripA(rows - i < MR ? rows - i : MR, depth, a + i * aRow, aRow, aCol, out);
    out += depth * MR * F32;
  }
}

/** A[rows x depth], at most MR rows -> [depth][MR], zero where rows run out. */
function packStripA(rows: usize, depth: usize, a: usize, aRow: usize, aCol: usize, out: usize): void {
  let p: usize = 0;
  if (rows == MR && aCol == F32) {
    for (; p + 4 <= depth; p += 4) {
      transpose4(a, aRow, out, MR * F32);
      transpose2(a + 4 * aRow, aRow, out + 16, MR * F32);
      a += 4 * F32;
      out += 4 * MR * F32;
    }
  }
  for (; p < depth; p++) {
    for (let i: usize = 0; i < MR; i++) store<f32>(out + i * F32, i < rows ? load<f32>(a + i * aRow) : <f32>0);
    a += aCol;
    out += MR * F32;
  }
}

/** B[depth x columns], at most NR columns -> [depth][NR], zero where columns run out. Strides in bytes. */
export function packStripB(depth: usize, columns: usize, b: usize, bRow: usize, bCol: usize, out: usize): void {
  if (columns == NR && bCol == F32) {
    for (let p: usize = 0; p < depth; p++) {
      v128.store(out, v128.load(b));
      v128.store(out, v128.load(b, 16), 16);
      b += bRow;
      out += NR * F32;
    }
    return;
  }
  let p: usize = 0;
  if (columns == NR && bRow == F32) {
    for (; p + 4 <= depth; p += 4) {
      transpose4(b, bCol, out, NR * F32);
      transpose4(b + 4 * bCol, bCol, out + 16, NR * F32);
      b += 4 * F32;
      out += 4 * NR * F32;
    }
  }
  for (; p < depth; p++) {
    for (let j: usize = 0; j < NR; j++) store<f32>(out + j * F32, j < columns ? load<f32>(b + j * bCol) : <f32>0);
    b += bRow;
    out += NR * F32;
  }
}

/** Four floats of each of four rows, turned into four rows of four. */
@inline
function transpose4(from: usize, row: usize, to: usize, toRow: usize): void {
  const r0 = v128.load(from);
  const r1 = v128.load(from + row);
  const r2 = v128.load(from + 2 * row);
  const r3 = v128.load(from + 3 * row);
  const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
  const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
  const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(low01, low23, 0, 2));
  v128.store(to + toRow, v128.shuffle<i64>(low01, low23, 1, 3));
  v128.store(to + 2 * toRow, v128.shuffle<i64>(high01, high23, 0, 2));
  v128.store(to + 3 * toRow, v128.shuffle<i64>(high01, high23, 1, 3));
}

/** Four floats of each of two rows, turned into four rows of two. */
@inline
function transpose2(from: usize, row: usize, to: usize, toRow: usize): void {
  const r0 = v128.load(from);
  const r1 = v128.load(from + row);
  const low = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
  const high = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
  v128.store64_lane(to, low, 0);
  v128.store64_lane(to + toRow, low, 1);
  v128.store64_lane(to + 2 * toRow, high, 0);
  v128.store64_lane(to + 3 * toRow, high, 1);
}

import { FLOAT, PANEL, PANEL_FACTORS, type Several, type Shape, VECTOR, variables } from './shape';
import {
  advance,
  type Code,
  i32,
  integer,
  load,
  loadBytes,
  loadSplat,
  loop,
  store,
  type Variable,
  vector,
  type WasmFunction,
  wasmFunction,
  zero,
} from './wasm';

/**
 * A value is `step x rounded + least`, so a product is `step x (sum of rounded x weights) + least x (sum of weights)`, each
 * times the scale of the column.
 */
export const multiply = (
  { dot, rows: together, depth, bytes }: Shape,
  mode: 'plain' | 'positive' | 'onto',
): WasmFunction =>
  wasmFunction(8, (parameters, local) => {
    const [from, stride, steps, weights, factors, to, rows, columns] = parameters as Several;
    const [left, inner, weightsAt, stepsAt, toAt, toStride] = variables(6, () => local('i32')) as Several;
    const at = variables(together, () => local('i32'));
    const value = local('v128');
    const panel = variables(PANEL / 4, () => local('v128'));
    const sums = at.map(() => variables(PANEL / 4, () => local('v128')));
    const weight = (place: number): Code =>
      dot === 'fours' ? load(weightsAt.get, VECTOR * place) : loadBytes(weightsAt.get, 8 * place);
    const plus = (sum: Variable, of: Variable): Code =>
      dot === 'fours'
        ? vector.relaxedDotFours(of.get, value.get, sum.get)
        : vector.addIntegers(sum.get, vector.dotPairs(of.get, value.get));
    const result = (sum: Variable, row: number, place: number): Code => {
      const factor = (kind: number): Code => load(factors.get, FLOAT * PANEL * kind + VECTOR * place);
      const step = loadSplat(stepsAt.get, 2 * FLOAT * row);
      const least = loadSplat(stepsAt.get, 2 * FLOAT * row + FLOAT);
      const product = vector.mul(vector.fromIntegers(sum.get), vector.mul(step, factor(0)));
      const all = vector.add(vector.add(product, vector.mul(least, factor(1))), factor(2));
      if (mode === 'positive') return vector.max(all, zero);
      return mode === 'onto' ? vector.add(all, load(toAt.get, VECTOR * place)) : all;
    };
    return [
      ...toStride.set(i32.mul(columns.get, integer(FLOAT))),
      ...loop(
        columns,
        PANEL,
        left.set(rows.get),
        stepsAt.set(steps.get),
        toAt.set(to.get),
        (at[0] as Variable).set(from.get),
        loop(
          left,
          together,
          weightsAt.set(weights.get),
          ...at.slice(1).map((row, before) => row.set(i32.add((at[before] as Variable).get, stride.get))),
          ...sums.flat().map((sum) => sum.set(zero)),
          inner.set(stride.get),
          loop(
            inner,
            depth * bytes,
            ...panel.map((of, place) => of.set(weight(place))),
            ...at.flatMap((row, index) => [
              value.set(loadSplat(row.get)),
              ...panel.map((of, place) => {
                const sum = (sums[index] as Variable[])[place] as Variable;
                return sum.set(plus(sum, of));
              }),
              advance(row, depth * bytes),
            ]),
            advance(weightsAt, PANEL * depth),
          ),
          ...sums.flatMap((row, index) => [
            ...row.map((sum, place) => store(toAt.get, result(sum, index, place), VECTOR * place)),
            advance(toAt, toStride.get),
          ]),
          advance(stepsAt, 2 * FLOAT * together),
          (at[0] as Variable).set((at[together - 1] as Variable).get),
        ),
        weights.set(weightsAt.get),
        advance(factors, FLOAT * PANEL_FACTORS),
        advance(to, FLOAT * PANEL),
      ),
    ];
  });

/** `together` rows by `vectors` of four columns at once. */
export const mix = ({ fused }: Shape, together: number, vectors: number): WasmFunction =>
  wasmFunction(9, (parameters, local) => {
    const [a, aStride, b, bStride, to, toStride, rows, inner, columns] = parameters as Several;
    const [left, across, bAt, bFrom, toAt] = variables(5, () => local('i32')) as Several;
    const at = variables(together, () => local('i32'));
    const value = local('v128');
    const panel = variables(vectors, () => local('v128'));
    const sums = at.map(() => variables(vectors, () => local('v128')));
    const plus = (sum: Variable, of: Variable): Code =>
      fused
        ? vector.relaxedMultiplyAdd(of.get, value.get, sum.get)
        : vector.add(sum.get, vector.mul(of.get, value.get));
    return loop(
      rows,
      together,
      across.set(columns.get),
      bFrom.set(b.get),
      loop(
        across,
        4 * vectors,
        bAt.set(bFrom.get),
        (at[0] as Variable).set(a.get),
        ...at.slice(1).map((row, before) => row.set(i32.add((at[before] as Variable).get, aStride.get))),
        ...sums.flat().map((sum) => sum.set(zero)),
        left.set(inner.get),
        loop(
          left,
          1,
          ...panel.map((of, place) => of.set(load(bAt.get, VECTOR * place))),
          ...at.flatMap((row, index) => [
            value.set(loadSplat(row.get)),
            ...panel.map((of, place) => {
              const sum = (sums[index] as Variable[])[place] as Variable;
              return sum.set(plus(sum, of));
            }),
            advance(row, FLOAT),
          ]),
          advance(bAt, bStride.get),
        ),
        toAt.set(to.get),
        ...sums.flatMap((row) => [
          ...row.map((sum, place) => store(toAt.get, sum.get, VECTOR * place)),
          advance(toAt, toStride.get),
        ]),
        advance(bFrom, VECTOR * vectors),
        advance(to, VECTOR * vectors),
      ),
      advance(to, i32.add(i32.mul(toStride.get, integer(together)), i32.mul(columns.get, integer(-FLOAT)))),
      advance(a, i32.mul(aStride.get, integer(together))),
    );
  });

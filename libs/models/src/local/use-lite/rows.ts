import { FLOAT, type Several, type Shape, VECTOR, variables } from './shape';
import {
  advance,
  type Code,
  f32,
  float,
  i32,
  integer,
  load,
  loadFloat,
  loop,
  store,
  storeFloat,
  type Variable,
  vector,
  type WasmFunction,
  wasmFunction,
  zero,
} from './wasm';

const total = (sum: Variable, combine: (a: Code, b: Code) => Code): Code =>
  [1, 2, 3].reduce((code, lane) => combine(code, vector.lane(sum.get, lane)), vector.lane(sum.get, 0));

/** Adding this to a float that is not negative leaves its nearest integer in the lowest bits. */
const ROUNDER = 2 ** 23;

export const round = ({ bytes, levels }: Shape): WasmFunction =>
  wasmFunction(5, (parameters, local) => {
    const [from, to, steps, rows, width] = parameters as Several;
    const [left, at] = variables(2, () => local('i32')) as Several;
    const [least, most, factor, mask] = variables(4, () => local('v128')) as Several;
    const [low, range] = variables(2, () => local('f32')) as Several;
    const scaled = (offset: number): Code =>
      vector.and(
        vector.add(vector.mul(vector.sub(load(from.get, offset), least.get), factor.get), vector.splat(float(ROUNDER))),
        mask.get,
      );
    const eight = (offset: number): Code => vector.narrow32(scaled(offset), scaled(offset + VECTOR));
    return [
      ...mask.set(vector.splatInteger(integer(levels))),
      ...loop(
        rows,
        1,
        at.set(from.get),
        left.set(width.get),
        least.set(load(from.get)),
        most.set(least.get),
        loop(
          left,
          4,
          least.set(vector.min(least.get, load(at.get))),
          most.set(vector.max(most.get, load(at.get))),
          advance(at, VECTOR),
        ),
        low.set(total(least, f32.min)),
        // Never zero: a row of equal values has a step too small to matter.
        range.set(f32.max(f32.add(total(most, f32.max), f32.mul(low.get, float(-1))), float(1e-20))),
        storeFloat(steps.get, f32.div(range.get, float(levels))),
        storeFloat(steps.get, low.get, FLOAT),
        advance(steps, 2 * FLOAT),
        least.set(vector.splat(low.get)),
        factor.set(vector.splat(f32.div(float(levels), range.get))),
        left.set(width.get),
        loop(
          left,
          16,
          bytes === 1
            ? store(to.get, vector.narrow16(eight(0), eight(2 * VECTOR)))
            : [...store(to.get, eight(0)), ...store(to.get, eight(2 * VECTOR), VECTOR)],
          advance(from, 4 * VECTOR),
          advance(to, 16 * bytes),
        ),
      ),
    ];
  });

const EPSILON = 1e-6;

export const normalise = wasmFunction(6, (parameters, local) => {
  const [from, to, rows, width, scale, shift] = parameters as Several;
  const [left, at, scaleAt, shiftAt] = variables(4, () => local('i32')) as Several;
  const [sum, mean, factor] = variables(3, () => local('v128')) as Several;
  const centred = vector.sub(load(at.get), mean.get);
  const average = f32.div(total(sum, f32.add), f32.fromInteger(width.get));
  return loop(
    rows,
    1,
    at.set(from.get),
    left.set(width.get),
    sum.set(zero),
    loop(left, 4, sum.set(vector.add(sum.get, load(at.get))), advance(at, VECTOR)),
    mean.set(vector.splat(average)),
    at.set(from.get),
    left.set(width.get),
    sum.set(zero),
    loop(left, 4, sum.set(vector.add(sum.get, vector.mul(centred, centred))), advance(at, VECTOR)),
    factor.set(vector.splat(f32.div(float(1), f32.sqrt(f32.add(average, float(EPSILON)))))),
    at.set(from.get),
    left.set(width.get),
    scaleAt.set(scale.get),
    shiftAt.set(shift.get),
    loop(
      left,
      4,
      store(to.get, vector.add(vector.mul(vector.mul(centred, factor.get), load(scaleAt.get)), load(shiftAt.get))),
      advance(at, VECTOR),
      advance(to, VECTOR),
      advance(scaleAt, VECTOR),
      advance(shiftAt, VECTOR),
    ),
    from.set(at.get),
  );
});

export const transpose = wasmFunction(6, (parameters, local) => {
  const [from, fromStride, to, toStride, rows, columns] = parameters as Several;
  const [left, at, toAt] = variables(3, () => local('i32')) as Several;
  return loop(
    rows,
    1,
    at.set(from.get),
    toAt.set(to.get),
    left.set(columns.get),
    loop(left, 1, storeFloat(toAt.get, loadFloat(at.get)), advance(at, FLOAT), advance(toAt, toStride.get)),
    advance(from, fromStride.get),
    advance(to, FLOAT),
  );
});

/** 2 to the power of -0.5 to 0.5: the first terms of its series, highest first. */
const POWER_TERMS = [0.000154035304, 0.00133335581, 0.00961812911, 0.0555041087, 0.240226507, 0.693147181, 1];
const LEAST_EXPONENT = -126;
const FRACTION_BITS = 23;
/** Adding this to a small float leaves its nearest integer, also a negative one, in the lowest bits. */
const SIGNED_ROUNDER = 1.5 * 2 ** FRACTION_BITS;
/** A score that counts as nothing. */
const NOTHING = -1e30;

export const softmax = wasmFunction(4, (parameters, local) => {
  const [from, stride, rows, count] = parameters as Several;
  const [left, at] = variables(2, () => local('i32')) as Several;
  const [most, sum, exponent, whole, power] = variables(5, () => local('v128')) as Several;
  const splat = (value: number): Code => vector.splat(float(value));
  const each = (...body: readonly Code[]): Code => [
    ...at.set(from.get),
    ...left.set(count.get),
    ...loop(left, 4, ...body, advance(at, VECTOR)),
  ];
  return loop(
    rows,
    1,
    store(i32.add(from.get, i32.mul(count.get, integer(FLOAT))), splat(NOTHING)),
    most.set(load(from.get)),
    each(most.set(vector.max(most.get, load(at.get)))),
    most.set(vector.splat(total(most, f32.max))),
    sum.set(zero),
    each(
      exponent.set(vector.mul(vector.sub(load(at.get), most.get), splat(Math.LOG2E))),
      exponent.set(vector.max(exponent.get, splat(LEAST_EXPONENT))),
      whole.set(vector.add(exponent.get, splat(SIGNED_ROUNDER))),
      exponent.set(vector.sub(exponent.get, vector.sub(whole.get, splat(SIGNED_ROUNDER)))),
      power.set(splat(POWER_TERMS[0] as number)),
      ...POWER_TERMS.slice(1).map((term) => power.set(vector.add(vector.mul(power.get, exponent.get), splat(term)))),
      power.set(vector.addIntegers(power.get, vector.shiftLeft(whole.get, integer(FRACTION_BITS)))),
      sum.set(vector.add(sum.get, power.get)),
      store(at.get, power.get),
    ),
    sum.set(vector.splat(f32.div(float(1), total(sum, f32.add)))),
    each(store(at.get, vector.mul(load(at.get), sum.get))),
    advance(from, stride.get),
  );
});
